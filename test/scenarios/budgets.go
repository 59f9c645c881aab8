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
type Budget struct {
	From     string // a step of the scenario
	Min, Max int    // writes
	Slow     int    // additional writes if the operation takes longer than reportDelay
	Reads    int    // the maximum number of live reads
}

// Budgets maps scenario names to budgets. Slow is 1 if the operator may also report an intermediate state: a
// WebServer's node port before its Pods are ready, or zero ready Pods after the Deployment is deleted.
var Budgets = map[string]Budget{
	"webserver/create":          {"ApplySample", 4, 4, 1, 0},
	"webserver/scale-3-to-4":    {"ScaleTo(4)", 3, 3, 0, 0},
	"webserver/upgrade-image":   {"UpgradeImage", 3, 3, 0, 0},
	"webserver/heal-service":    {"DeleteService", 2, 2, 0, 0},
	"webserver/heal-deployment": {"DeleteDeployment", 3, 3, 1, 0},
	"webserver/delete":          {"Delete", 0, 0, 0, 0},
	"memcached/create":          {"ApplySample", 3, 3, 0, 0},
	"memcached/scale-3-to-4":    {"ScaleTo(4)", 3, 3, 0, 0},
	"memcached/upgrade-image":   {"UpgradeImage", 3, 3, 0, 0},
	"memcached/heal-deployment": {"DeleteDeployment", 3, 3, 1, 0},
	"memcached/delete":          {"Delete", 0, 0, 0, 0},
}

// maxLate is the number of status writes to a deleted resource that Cost ignores. More than that indicates a loop.
const maxLate = 10

// Cost returns the numbers of writes and live reads among the given requests. When a resource is deleted, the operator
// may receive the deletion of its children first, because events from different watches are not ordered. The operator
// then reads the missing children and tries to update the status of the deleted resource. Cost excludes these requests.
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

// A budget allows Slow additional writes if the operation takes longer than reportDelay, and one more write per
// progressDelay. Both delays are slightly shorter than the operator's own, to tolerate a slow machine.
const (
	reportDelay   = 300 * time.Millisecond
	progressDelay = 4500 * time.Millisecond
)

// Writes returns the number of writes that the budget allows for an operation that takes the given time.
func (b Budget) Writes(took time.Duration) int {
	writes := b.Max
	if took > reportDelay {
		writes += b.Slow
	}
	return writes + int(took/progressDelay)
}

// Check returns an error if the numbers of writes and reads are not within the budget.
func (b Budget) Check(writes, reads int, took time.Duration) error {
	if most := b.Writes(took); writes < b.Min || writes > most || reads > b.Reads {
		return fmt.Errorf("got %d writes and %d reads within %s since %s, want %d to %d writes and %d reads", writes, reads, took, b.From, b.Min, most, b.Reads)
	}
	return nil
}

// Took returns the time between from and the last change to a Deployment, ReplicaSet or Pod.
func Took(history []record.ObjectVersion, from time.Time) time.Duration {
	last := from
	for _, version := range history {
		if slices.Contains([]string{"Deployment", "ReplicaSet", "Pod"}, version.GetKind()) && version.Time.After(last) {
			last = version.Time
		}
	}
	return last.Sub(from)
}
