package fault

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// Type is a type of fault, such as a crash after a write. Each type is defined in a file of its own, which registers it. A Type
// is also a RequestFault or a WatchFault.
type Type interface {
	// Name is the name of the type in a plan, such as "crash-after".
	Name() string
	Category() Category
	// Points returns the points of a reference run at which the fault is injected: requests, or watches with the number of the
	// action from which on they are affected.
	Points(*Reference) []RequestKey
}

// RequestFault is a Type that acts on requests.
type RequestFault interface {
	Type
	// Inject handles a request to which the fault applies, and returns what the operator receives.
	Inject(*Call) (*http.Response, error)
}

// WatchFault is a Type that acts on watches.
type WatchFault interface {
	Type
	// Begin is called when the action of the fault begins.
	Begin(*View)
}

// wideFault is a RequestFault that applies to all requests of a sort instead of one. Its only point is the zero RequestKey.
type wideFault interface {
	AppliesTo(*record.Request) bool
}

// burstFault is a RequestFault that also applies to further requests of the same key, for a duration or until the operator
// exits and starts again.
type burstFault interface {
	Lasts() time.Duration
}

// None is the type of a Fault that does nothing.
var None Type

// Category groups faults of one nature.
type Category string

// The categories.
const (
	Crashes       Category = "crashes"
	LeaderChanges Category = "leader-changes"
	Replacements  Category = "replacements"
	Errors        Category = "errors"
	Staleness     Category = "staleness"
	TimeTravels   Category = "time-travels"
	Latency       Category = "latency"
)

// Categories are all categories, in the order in which they are explored.
var Categories = []Category{Crashes, LeaderChanges, Replacements, Errors, Staleness, TimeTravels, Latency}

// registry holds all types by their names.
var registry = map[string]Type{}

// register adds a type to the registry and returns it.
func register(of Type) Type {
	if registry[of.Name()] != nil || !slices.Contains(Categories, of.Category()) {
		panic("fault " + of.Name() + " is registered twice or has no known category")
	}
	registry[of.Name()] = of
	return of
}

// Types returns the types of the given categories, or all types without arguments, by category and name.
func Types(categories ...Category) []Type {
	if len(categories) == 0 {
		categories = Categories
	}
	var types []Type
	for _, of := range registry {
		if slices.Contains(categories, of.Category()) {
			types = append(types, of)
		}
	}
	slices.SortFunc(types, func(a, b Type) int {
		return cmp.Or(slices.Index(Categories, a.Category())-slices.Index(Categories, b.Category()), cmp.Compare(a.Name(), b.Name()))
	})
	return types
}
