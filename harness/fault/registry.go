package fault

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// Type is a type of fault, such as a crash after a write. Every Type is a requestFault or a watchFault.
type Type interface {
	// Name returns the name of the type in a plan, such as "crash-after".
	Name() string
	Category() Category
	// Points returns the points in a reference run at which the fault is injected. For a requestFault, a point is a
	// request. For a watchFault, a point is a watch, and Nth is the number of the first affected action.
	Points(*Reference) []RequestKey
}

type common struct {
	name     string
	category Category
	points   func(*Reference) []RequestKey
}

func (c *common) Name() string                       { return c.name }
func (c *common) Category() Category                 { return c.category }
func (c *common) Points(ref *Reference) []RequestKey { return c.points(ref) }

// requestFault is a Type that affects requests.
type requestFault struct {
	common
	// inject handles a request that the fault applies to, and returns the response for the operator.
	inject func(*call) (*http.Response, error)
	// appliesTo, if set, reports whether the fault affects a request. Such a fault does not target a specific request. Its
	// Points method returns only the zero RequestKey.
	appliesTo func(*record.Request) bool
	// lasts is how long the fault continues to affect requests with the same verb, target and name. It ends early if the
	// operator restarts.
	lasts time.Duration
}

// watchFault is a Type that affects watches.
type watchFault struct {
	common
	begin func(*watchView) // called at the start of the action that the fault targets
}

// None is the type of a Fault that does nothing.
var None Type

// Category is a group of related fault types.
type Category string

// The fault categories.
const (
	Crashes       Category = "crashes"
	LeaderChanges Category = "leader-changes"
	Replacements  Category = "replacements"
	Errors        Category = "errors"
	Staleness     Category = "staleness"
	TimeTravels   Category = "time-travels"
	Latency       Category = "latency"
)

// Categories lists all categories in the order in which they are explored.
var Categories = []Category{Crashes, LeaderChanges, Replacements, Errors, Staleness, TimeTravels, Latency}

var registry = map[string]Type{}

func register(of Type) Type {
	if registry[of.Name()] != nil || !slices.Contains(Categories, of.Category()) {
		panic("fault " + of.Name() + " is registered twice or has no known category")
	}
	registry[of.Name()] = of
	return of
}

// Types returns the fault types in the given categories, or in all if none is given, sorted by category and name.
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
