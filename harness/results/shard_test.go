package results_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/verdict"
)

func TestPlanIsInExactlyOneShard(t *testing.T) {
	g := NewWithT(t)
	const of, plans = 5, 1000
	counts := make([]int, of)
	for i := range plans {
		in := 0
		for index := range of {
			if (results.Shard{Index: index + 1, Of: of}).Has(fmt.Sprintf("web/create crash-after create secrets - %d", i)) {
				in++
				counts[index]++
			}
		}
		g.Expect(in).To(Equal(1))
	}
	g.Expect(counts).To(HaveEach(BeNumerically("~", plans/of, plans/of/4)), "plans are distributed evenly")
	g.Expect(results.Shard{}.Has("any")).To(BeTrue())
}

func TestParseShard(t *testing.T) {
	g := NewWithT(t)
	g.Expect(results.ParseShard("2/8")).To(Equal(results.Shard{Index: 2, Of: 8}))
	for _, wrong := range []string{"", "8", "0/8", "9/8", "1/0", "a/8", "1/a", "-1/8", "1/8/2"} {
		_, err := results.ParseShard(wrong)
		g.Expect(err).To(MatchError(ContainSubstring(fmt.Sprintf("invalid shard %q", wrong))), wrong)
	}
	t.Setenv("JOB_COMPLETION_INDEX", "7")
	g.Expect(results.ParseShard("8")).To(Equal(results.Shard{Index: 8, Of: 8}))
	_, err := results.ParseShard("7")
	g.Expect(err).To(HaveOccurred())
}

func TestMerge(t *testing.T) {
	g := NewWithT(t)
	begin := time.Unix(1000, 0).UTC()
	shard := func(index, of int, plan string, started time.Duration, seconds float64) results.Exploration {
		return results.Exploration{About: results.About{Operator: "web"}, Seed: 7, Shard: results.Shard{Index: index, Of: of},
			Started: begin.Add(started), Seconds: seconds,
			WithoutFault: []results.FindingWithoutFault{withoutFault("web/create", verdict.Panics, "boom"), withoutFault("web/create", verdict.Panics, plan)},
			Plans:        []results.Plan{{Scenario: plan, Passed: true}}, References: map[string]*results.Run{plan: {Ended: seconds}}}
	}
	written := func(e results.Exploration) string {
		folder := t.TempDir()
		g.Expect(e.WriteFiles(folder)).To(Succeed())
		return folder
	}
	one, two, three := written(shard(1, 3, "a", 2*time.Second, 4)), written(shard(2, 3, "b", 0, 5)), written(shard(3, 3, "c", time.Second, 9))
	whole, err := results.MergeFolders([]string{three, one, two})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(whole.Plans).To(HaveExactElements(HaveField("Scenario", "a"), HaveField("Scenario", "b"), HaveField("Scenario", "c")))
	g.Expect(whole.References).To(HaveLen(3))
	g.Expect(whole.WithoutFault).To(HaveExactElements(HaveField("Message", "boom"), HaveField("Message", "a"), HaveField("Message", "b"), HaveField("Message", "c")))
	g.Expect(whole.Started).To(Equal(begin))
	g.Expect(whole.Seconds).To(Equal(10.0))
	g.Expect(whole.Shard).To(BeZero())
	g.Expect(whole.Seed).To(BeEquivalentTo(7))

	half := shard(2, 3, "b", 0, 1)
	half.Interrupted = true
	for want, folders := range map[string][]string{
		"shard 2/3 is missing":                                {one, three},
		"shard 2/3 is incomplete":                             {one, written(half), three},
		"shard 1/3 is passed twice":                           {one, two, one, three},
		"contains a complete exploration":                     {written(shard(0, 0, "a", 0, 1))},
		"shards 1/3 and 2/4 belong to different explorations": {one, written(shard(2, 4, "b", 0, 1))},
	} {
		_, err := results.MergeFolders(folders)
		g.Expect(err).To(MatchError(ContainSubstring(want)))
	}
}
