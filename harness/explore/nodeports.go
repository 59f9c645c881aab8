package explore

import (
	"net/http"
	"sync"

	"github.com/operator-assay/assay/harness/record"
)

// exclusion keeps runs apart that need the same node port, of which the cluster has one. That a scenario is such a one
// shows when the API server refuses a Service.
type exclusion struct {
	all sync.RWMutex // held for reading by each run, and for writing by one that must find every port free
	few sync.Mutex   // held by runs of the scenarios that need a port

	needing sync.Map // the names of these scenarios
	alone   sync.Map // of those of which a Service is refused though every port is free
}

// needsPort tells whether a scenario is known to need a port.
func (x *exclusion) needsPort(name string) bool {
	_, needs := x.needing.Load(name)
	return needs
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
