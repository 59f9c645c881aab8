package scenarios

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// Budget is how many writes and live reads the operator may make for an operation, from the step that begins it to
// the end of the scenario. Min is what the contract needs, Max what it allows. Events are counted apart, watches and
// Leases not at all. It holds where Pods become ready at once, but for Pauses.
type Budget struct {
	From     string // a step of the scenario
	Min, Max int    // writes
	Reads    int    // at most
}

// Budgets are the contract's, by the name of the scenario. The Pods of a deleted Deployment may be seen to go before it is,
// which is a status more.
var Budgets = map[string]Budget{
	"webserver/create":          {"ApplySample", 4, 4, 0},
	"webserver/scale-3-to-4":    {"ScaleTo(4)", 3, 3, 0},
	"webserver/upgrade-image":   {"UpgradeImage", 3, 4, 0},
	"webserver/heal-service":    {"DeleteService", 2, 2, 0},
	"webserver/heal-deployment": {"DeleteDeployment", 3, 4, 0},
	"webserver/delete":          {"Delete", 0, 0, 0},
	"memcached/create":          {"ApplySample", 3, 3, 0},
	"memcached/scale-3-to-4":    {"ScaleTo(4)", 3, 3, 0},
	"memcached/upgrade-image":   {"UpgradeImage", 3, 4, 0},
	"memcached/heal-deployment": {"DeleteDeployment", 3, 4, 0},
	"memcached/delete":          {"Delete", 0, 0, 0},
}

// maxLate is how many claims may find the resource gone at no cost: more of them are a loop.
const maxLate = 10

// Cost counts the writes and live reads of an operation. Two watches have no order, so the children of a deleted resource may be
// seen to go before it is. The operator then reads what it misses, and its claim finds the resource gone: that is no part of the cost.
func Cost(requests record.Requests) (writes, reads int) {
	missed, late, ofLate := 0, 0, 0
	for _, request := range requests {
		switch {
		case request.Status != http.StatusNotFound:
		case request.Verb == "get":
			missed++
		case request.Subresource == "status" && late < maxLate:
			late, ofLate = late+1, missed
		}
	}
	return len(requests.Writes()) - late, len(requests.Reads()) - ofLate
}

// Check returns which of the numbers are outside the budget. Each pause allows a write more.
func (b Budget) Check(writes, reads, pauses int) error {
	if writes < b.Min || writes > b.Max+pauses || reads > b.Reads {
		return fmt.Errorf("%d writes and %d reads since %s: the budget is %d to %d writes and %d reads", writes, reads, b.From, b.Min, b.Max+pauses, b.Reads)
	}
	return nil
}

// The operator reports the progress of a rollout some time after the first change, and then at most once per interval.
// reportDelay is a little less than the operator's reportDelay, and reportLimit less than its progressInterval.
const (
	reportDelay = 300 * time.Millisecond
	reportLimit = 1100 * time.Millisecond
)

// Pauses counts how often the operator may have reported a rollout under way, from a moment on to the last change of what it
// observes: as nothing had changed for reportDelay, or reportLimit was over. On a machine that is fast enough it is 0.
func Pauses(history []record.ObjectVersion, from time.Time) int {
	pauses, last := 0, from
	for _, version := range history {
		if !slices.Contains([]string{"Deployment", "ReplicaSet", "Pod"}, version.GetKind()) || version.Time.Before(last) {
			continue
		}
		if version.Time.Sub(last) >= reportDelay {
			pauses++
		}
		last = version.Time
	}
	return pauses + int(last.Sub(from)/reportLimit)
}
