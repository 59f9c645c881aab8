package verdict

import (
	"math"
	"testing"

	. "github.com/onsi/gomega"
)

var (
	again  = &Confirmation{Played: 3, Failed: 2, PlayedWithoutFault: 2}
	seldom = &Confirmation{Played: 3, Failed: 1, PlayedWithoutFault: 2}
	anyway = &Confirmation{Played: 3, Failed: 3, PlayedWithoutFault: 2, FailedWithoutFault: 1}
)

func failure(index int, oracle Oracle, step string, confirmation *Confirmation) Failure {
	return Failure{Index: index, Findings: []Finding{{Oracle: oracle, Step: step}}, Confirmation: confirmation, Triggered: true}
}

func TestGroupsAreSorted(t *testing.T) {
	g := NewWithT(t)
	groups := Groups([]Failure{
		failure(0, Reference, "seldom", seldom), failure(1, Reference, "anyway", anyway),
		failure(2, Counts, "churn", again), failure(3, Counts, "churn", nil),
		failure(4, Retries, "loop", again), failure(5, Late, "once", nil), failure(6, Late, "twice", nil), failure(7, Late, "twice", nil),
		failure(8, Counts, "first", nil), failure(9, Counts, "second", nil), failure(10, Counts, "second", nil), failure(11, Counts, "first", nil),
		failure(12, Invariants, "lie", nil), failure(13, Converges, "lost", nil), failure(14, Panics, "panic", nil),
	})
	var steps []string
	for _, group := range groups {
		steps = append(steps, group.Step)
	}
	g.Expect(steps).To(Equal([]string{"panic", "lost", "loop", "lie", "twice", "once", "churn", "first", "second", "seldom", "anyway"}),
		"by severity, by size, and by the first failure, with unstable groups last")
}

func TestGroupCombinesItsFailures(t *testing.T) {
	g := NewWithT(t)
	one, two, three := failure(1, Counts, "a", nil), failure(4, Counts, "a", again), failure(2, Counts, "a", seldom)
	three.Findings = append(three.Findings, Finding{Oracle: Stable}, Finding{Oracle: Late})
	groups := Groups([]Failure{one, two, three})
	g.Expect(groups).To(HaveLen(1))
	g.Expect(groups[0].Plans).To(Equal([]int{4, 2, 1}), "the reproduced failure comes first")
	g.Expect(groups[0].Oracles).To(Equal([]Oracle{Counts, Stable, Late}), "without duplicates")
	g.Expect(groups[0].Severity).To(Equal(HotLoop), "the highest severity")
	g.Expect(groups[0].Confirmation).To(BeIdenticalTo(again))
}

func TestBestExampleComesFirst(t *testing.T) {
	example := func(confirmation *Confirmation, triggered, isPair bool, effort int) Failure {
		f := failure(0, Counts, "a", confirmation)
		f.Triggered, f.IsPair, f.Effort = triggered, isPair, effort
		return f
	}
	fromTheBest := []Failure{
		example(again, false, true, math.MaxInt), example(seldom, true, false, 1), example(nil, true, false, 1), example(nil, true, false, 2),
		example(nil, true, true, 1), example(nil, false, false, 1),
	}
	for i, better := range fromTheBest {
		for j, worse := range fromTheBest[i+1:] {
			better.Index, worse.Index = 1, 2
			for _, both := range [][]Failure{{better, worse}, {worse, better}} {
				if got := Groups(both)[0].Plans[0]; got != 1 {
					t.Errorf("got example %d before example %d, want the opposite", i+1+j, i)
				}
			}
		}
	}
}
