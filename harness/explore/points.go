package explore

import (
	"maps"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
)

// points contains the requests and watches of a scenario at which faults can be injected. It contains only requests
// that the operator sent in every fault-free run.
type points struct {
	// reference does not include requests from steps that another scenario covers, except for watches.
	reference fault.Reference
	writes    []fault.Write            // all writes, even if they get no faults
	sent      map[fault.RequestKey]int // the minimum number of requests over all runs; Nth is zero in the keys
	// directlyAfter maps a write to the previous write if no object changed between the two in any run.
	directlyAfter map[fault.RequestKey]fault.RequestKey
}

func isAny(record.ObjectVersion) bool { return true }

func isBeingDeleted(version record.ObjectVersion) bool {
	return !version.Deleted && version.GetDeletionTimestamp() != nil
}

// newPoints returns the points that the runs have in common. It skips the first coveredSteps steps, because another
// scenario covers them.
func newPoints(runs []*recording, coveredSteps int, kinds kinds) points {
	first := runs[0]
	p := points{
		reference: fault.Reference{Actions: len(first.actionStarts)}, writes: first.injector.Journal.Writes(), sent: first.injector.Journal.RequestCounts(),
		directlyAfter: first.directlyAfter(),
	}
	ref := &p.reference
	covered := maps.Clone(first.sent[coveredSteps])
	for _, run := range runs {
		p.writes = inBoth(p.writes, run.injector.Journal.Writes())
		also := run.directlyAfter()
		maps.DeleteFunc(p.directlyAfter, func(write, previous fault.RequestKey) bool { return also[write] != previous })
		keepFewer(p.sent, run.injector.Journal.RequestCounts())
		keepFewer(covered, run.sent[coveredSteps])
	}
	isCovered := func(key fault.RequestKey) bool {
		nth := key.Nth
		key.Nth = 0
		return nth <= covered[key]
	}
	for _, write := range p.writes {
		if !isCovered(write.RequestKey) {
			ref.Writes = append(ref.Writes, write.RequestKey)
		}
	}
	for key, count := range p.sent {
		key.Nth = count
		switch {
		case key.Nth == 0, key.Verb != "watch" && isCovered(key):
		case strings.HasPrefix(key.Target, "/"): // health checks, version and discovery
		case key.Verb == "get" || key.Verb == "list":
			ref.Reads = append(ref.Reads, key)
		case key.Verb == "watch":
			if actions := kinds.actionsWith(key.Target, first.actionStarts, first.outcome.history, isAny); len(actions) > 0 {
				deletions := kinds.actionsWith(key.Target, first.actionStarts, first.outcome.history, isBeingDeleted)
				ref.Watches = append(ref.Watches, fault.Watch{Target: key.Target, Actions: actions, Deletions: deletions})
			}
		}
	}
	slices.SortFunc(ref.Reads, byName)
	slices.SortFunc(ref.Watches, func(a, b fault.Watch) int { return strings.Compare(a.Target, b.Target) })
	ref.Watches = slices.CompactFunc(ref.Watches, func(a, b fault.Watch) bool { return a.Target == b.Target })
	return p
}

func keepFewer(counts, others map[fault.RequestKey]int) {
	for key, count := range counts {
		counts[key] = min(count, others[key])
	}
}

// inBoth returns the writes that occurred in both runs. A fault at any other write, such as an intermediate status
// update, might never be triggered. The result is sorted because the order of parallel writes is not deterministic.
func inBoth(one, two []fault.Write) []fault.Write {
	both := slices.DeleteFunc(slices.Clone(one), func(write fault.Write) bool {
		return !slices.ContainsFunc(two, func(other fault.Write) bool { return other.RequestKey == write.RequestKey })
	})
	slices.SortFunc(both, func(a, b fault.Write) int { return byName(a.RequestKey, b.RequestKey) })
	return both
}

func byName(a, b fault.RequestKey) int { return strings.Compare(a.String(), b.String()) }

// hasEquivalent reports whether another plan has the same effect. A crash before a write has the same effect as a crash
// after the previous write if no object changed between them, because the restarted operator sees the same state.
func (p *points) hasEquivalent(plan Plan) bool {
	previous, known := p.directlyAfter[plan.Fault.At]
	return known && plan.Fault.Type == fault.CrashBefore && slices.Contains(p.reference.Writes, previous)
}

// directlyAfter maps each write to the previous write if no resourceVersion in changes lies between the two. The
// resourceVersions of different kinds are comparable, because they are all etcd revisions.
func directlyAfter(writes []fault.Write, changes []uint64) map[fault.RequestKey]fault.RequestKey {
	after := map[fault.RequestKey]fault.RequestKey{}
	for i := 1; i < len(writes); i++ {
		previous, write := record.Revision(writes[i-1].ResourceVersion), record.Revision(writes[i].ResourceVersion)
		between := func(change uint64) bool { return previous < change && change < write }
		if previous > 0 && previous < write && !slices.ContainsFunc(changes, between) {
			after[writes[i].RequestKey] = writes[i-1].RequestKey
		}
	}
	return after
}
