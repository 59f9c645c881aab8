package scenarios

import "fmt"

// Budget is how many writes the operator may make for an operation, from the step that begins it to
// the end of the scenario: what the contract needs at the least, and what it allows at the most.
// Reads cost nothing, and Events are counted apart. It holds where Pods become ready at once.
type Budget struct {
	From     string // a step of the scenario
	Min, Max int
}

// Budgets are the contract's, by the name of the scenario.
var Budgets = map[string]Budget{
	"webserver/create":          {"ApplySample", 3, 5},
	"webserver/scale-3-to-4":    {"ScaleTo(4)", 2, 3},
	"webserver/upgrade-image":   {"UpgradeImage", 2, 4},
	"webserver/heal-service":    {"DeleteService", 1, 2},
	"webserver/heal-deployment": {"DeleteDeployment", 1, 3}, // that nothing serves is told at once
	"webserver/delete":          {"Delete", 0, 0},
	"memcached/create":          {"ApplySample", 2, 4},
	"memcached/scale-3-to-4":    {"ScaleTo(4)", 2, 3},
	"memcached/upgrade-image":   {"UpgradeImage", 2, 4},
	"memcached/heal-deployment": {"DeleteDeployment", 1, 3},
	"memcached/delete":          {"Delete", 0, 0},
}

// Check says when so many writes are outside the budget.
func (b Budget) Check(writes int) error {
	if writes < b.Min || writes > b.Max {
		return fmt.Errorf("%d writes since %s: the budget is %d to %d", writes, b.From, b.Min, b.Max)
	}
	return nil
}
