package explore

import (
	"net/http"
	"sync"

	"github.com/operator-assay/assay/harness/record"
)

// nodePorts serializes the runs of scenarios that need a fixed node port, because a node port can be allocated only
// once per cluster. Such a scenario is detected when the API server rejects a Service.
type nodePorts struct {
	all sync.RWMutex // held for reading by every run, and for writing by a run that needs all ports to be free
	few sync.Mutex   // held by the runs that need a node port

	needing  sync.Map // names of the scenarios that need a node port
	rejected sync.Map // names of the scenarios whose Service is rejected even if all ports are free
}

func (x *nodePorts) needsPort(name string) bool {
	_, needs := x.needing.Load(name)
	return needs
}

// enter waits until the run may start. The returned function must be called when the run ends. While a run waits for a
// node port, it gives up its slot.
func (x *nodePorts) enter(needsPort bool, slots chan struct{}) (leave func()) {
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

// refusedService reports whether the API server rejected a Service as invalid, as it does if a node port is in use.
func refusedService(requests record.Requests) bool {
	return len(requests.Filter(record.Request.IsWrite, func(r record.Request) bool {
		return r.Resource == "services" && r.Group == "" && r.Status == http.StatusUnprocessableEntity
	})) > 0
}
