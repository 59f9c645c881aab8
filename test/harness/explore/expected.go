package explore

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/test/harness/oracle"
)

// expected is a state that later runs must reach. More of what is random may be learnt while runs are compared with it.
type expected struct {
	state oracle.Snapshot

	mu             sync.RWMutex
	nondeterminism oracle.Nondeterminism // what differs between the runs
}

// diff returns how a state differs; empty if it does not.
func (e *expected) diff(state oracle.Snapshot) string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return oracle.Diff(e.nondeterminism.Normalize(e.state), e.nondeterminism.Normalize(state))
}

// normalize returns a state without what is random.
func (e *expected) normalize(state oracle.Snapshot) oracle.Snapshot {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.nondeterminism.Normalize(state)
}

// nameOf is an object's name, or what stands for it where it differs from run to run.
func (e *expected) nameOf(kind schema.GroupKind, name string) string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.nondeterminism.Name(kind, name)
}

// learn learns from the state of another run without a fault, and returns what was not known.
func (e *expected) learn(state oracle.Snapshot) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.nondeterminism.Learn(e.state, state)
}

// tell has others know what is random here.
func (e *expected) tell(known *oracle.Nondeterminism) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	known.Adopt(&e.nondeterminism)
}

// adopt learns what is random elsewhere.
func (e *expected) adopt(known *oracle.Nondeterminism) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.nondeterminism.Adopt(known)
}
