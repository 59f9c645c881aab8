package scenarios

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// Budget is the number of writes that the operator needs from the start of the step that is named in From until the end
// of the scenario. Live reads are not allowed. Events, watches and Leases do not count.
type Budget struct {
	From   string // a step of the scenario
	Writes int
	Slow   int // additional writes that are allowed if the operation takes longer than reportDelay
}

// Budgets maps scenario names to budgets. The last number in a budget, Slow, is 1 if the operator may also report an
// intermediate state: a WebServer's node port before its Pods are ready, or zero ready Pods after the Deployment is
// deleted.
var Budgets = map[string]Budget{
	"webserver/create":          {"ApplySample", 4, 1},
	"webserver/scale-3-to-4":    {"ScaleTo(4)", 3, 0},
	"webserver/upgrade-image":   {"UpgradeImage", 3, 0},
	"webserver/heal-service":    {"DeleteService", 2, 0},
	"webserver/heal-deployment": {"DeleteDeployment", 3, 1},
	"webserver/delete":          {"Delete", 0, 0},
	"memcached/create":          {"ApplySample", 3, 0},
	"memcached/scale-3-to-4":    {"ScaleTo(4)", 3, 0},
	"memcached/upgrade-image":   {"UpgradeImage", 3, 0},
	"memcached/heal-deployment": {"DeleteDeployment", 3, 1},
	"memcached/delete":          {"Delete", 0, 0},
}

// If an operation takes longer than reportDelay, its budget allows Budget.Slow additional writes. It also allows one
// more write per progressDelay. Both delays are slightly shorter than the operator's own, to tolerate a slow machine.
const (
	reportDelay   = 300 * time.Millisecond
	progressDelay = 4500 * time.Millisecond
)

// Most returns the number of writes that the budget allows for an operation that takes the given time.
func (b Budget) Most(took time.Duration) int {
	most := b.Writes + int(took/progressDelay)
	if took > reportDelay {
		most += b.Slow
	}
	return most
}

const maxLate = 30

// Check returns an error if the operator's requests since From do not match the budget. Events from different watches
// are not ordered, so the operator may see that the children were deleted before it sees that the resource was. It then
// reads the missing children and tries to update the status of the deleted resource. Check ignores up to maxLate of
// these requests. A higher number would indicate a loop.
func (b Budget) Check(requests record.Requests, took time.Duration) error {
	if b.Writes == 0 {
		late := 0
		requests = requests.Filter(func(r record.Request) bool {
			if r.Status == http.StatusNotFound && (r.Verb == "get" || r.Subresource == "status") {
				late++
				return late > maxLate
			}
			return true
		})
	}
	writes, reads := len(requests.Writes()), len(requests.Reads())
	if most := b.Most(took); writes < b.Writes || writes > most || reads > 0 {
		return fmt.Errorf("got %d writes and %d reads within %s since %s, want %d to %d writes and no read\n%s", writes, reads, took, b.From, b.Writes, most, requests.Table())
	}
	return nil
}

// Took returns how long after the given time the last change to a Deployment, ReplicaSet or Pod occurred.
func Took(history []record.ObjectVersion, from time.Time) time.Duration {
	last := from
	for _, version := range history {
		if slices.Contains([]string{"Deployment", "ReplicaSet", "Pod"}, version.GetKind()) && version.Time.After(last) {
			last = version.Time
		}
	}
	return last.Sub(from)
}
