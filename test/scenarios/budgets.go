package scenarios

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// Budget limits the operator's writes and live reads from the step From to the end of the scenario. Min is the number
// of writes that the contract requires, and Max is the number that it allows. Events, watches and Leases do not count.
// The limits assume that Pods become ready immediately; Pauses accounts for delays.
type Budget struct {
	From     string // a step of the scenario
	Min, Max int    // writes
	Reads    int    // the maximum number of live reads
}

// Budgets contains the budget of each scenario by name. The operator may see the deletion of the Pods before the
// deletion of their Deployment, which costs one additional status update.
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

// maxLate is the maximum number of status writes for a deleted resource that are not counted. A higher number indicates
// a loop.
const maxLate = 10

// Cost returns the number of writes and live reads of an operation. Events of different watches are not ordered, so the
// operator may see the deletion of children before the deletion of their resource. It then reads the missing children,
// and its status write fails because the resource is gone. Cost does not count these requests.
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

// Check returns an error if the numbers exceed the budget. Each pause allows one additional write.
func (b Budget) Check(writes, reads, pauses int) error {
	if writes < b.Min || writes > b.Max+pauses || reads > b.Reads {
		return fmt.Errorf("%d writes and %d reads since %s: the budget is %d to %d writes and %d reads", writes, reads, b.From, b.Min, b.Max+pauses, b.Reads)
	}
	return nil
}

// The operator may report a change after its reportDelay, and reports progress at most once per progressInterval. The
// constants are shorter, so that a slow machine does not exceed a budget.
const (
	reportDelay = 300 * time.Millisecond
	reportLimit = 1100 * time.Millisecond
)

// Pauses returns how many additional progress reports the operator may have written between from and the last change of
// a Deployment, ReplicaSet or Pod. It counts each gap of at least reportDelay between two changes, and each reportLimit
// that has passed. The result is 0 on a fast machine.
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
