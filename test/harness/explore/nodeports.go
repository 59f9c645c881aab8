package explore

import (
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/test/harness/record"
)

// exclusion keeps runs apart that need the same node port, of which the cluster has one. That a scenario is such a one
// shows when the API server refuses a Service.
type exclusion struct {
	all sync.RWMutex // held for reading by each run, and for writing by one that must find every port free
	few sync.Mutex   // held by runs of the scenarios that need a port

	mu    sync.Mutex
	names sets.Set[string] // of these scenarios
	alone sets.Set[string] // those of which a Service is refused though every port is free
}

// needsPort tells whether a scenario is known to need a port.
func (x *exclusion) needsPort(name string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.names.Has(name)
}

// add remembers a scenario, and tells whether it is new.
func (x *exclusion) add(name string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.names.Has(name) {
		return false
	}
	if x.names == nil {
		x.names = sets.New[string]()
	}
	x.names.Insert(name)
	return true
}

// isRefusedAlone tells whether playing a scenario again does not help.
func (x *exclusion) isRefusedAlone(name string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.alone.Has(name)
}

func (x *exclusion) addRefusedAlone(name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.alone = x.alone.Union(sets.New(name))
}

// enter waits until a run may be played; leave ends it. While a run waits for others that need the port, it gives its
// slot away.
func (x *exclusion) enter(needsPort bool, slots chan struct{}) (leave func()) {
	if !needsPort {
		x.all.RLock()
		return x.all.RUnlock
	}
	<-slots
	x.few.Lock()
	slots <- struct{}{}
	x.all.RLock()
	return func() {
		x.all.RUnlock()
		x.few.Unlock()
	}
}

// refusedService tells whether the API server found a Service invalid, as it does when a node port is taken.
func refusedService(requests record.Requests) bool {
	return len(requests.Filter(record.Request.IsWrite, func(r record.Request) bool {
		return r.Resource == "services" && r.Group == "" && r.Status == http.StatusUnprocessableEntity
	})) > 0
}
