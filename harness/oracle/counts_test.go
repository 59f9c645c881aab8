package oracle_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/oracle"
)

func TestTooMany(t *testing.T) {
	g := NewWithT(t)
	of := func(object string) oracle.Change { return oracle.Change{Target: "secrets", Object: object} }
	deleted := oracle.Change{Deleted: true, Target: "secrets", Object: "a"}
	want := oracle.Counts{of("a"): 1, of("b"): 1, of("random"): oracle.Varying}
	g.Expect(want.TooMany(oracle.Counts{of("a"): 1, of("random"): 7}, nil)).To(BeEmpty(), "fewer and varying changes are ignored")
	g.Expect(want.TooMany(oracle.Counts{of("a"): 2}, []oracle.Change{of("a")})).To(BeEmpty(), "one additional change is allowed")
	g.Expect(want.TooMany(oracle.Counts{of("a"): 3}, []oracle.Change{of("a")})).To(Equal([]oracle.Excess{{of("a"), 3, 1}}))
	g.Expect(want.TooMany(oracle.Counts{of("b"): 2}, []oracle.Change{of("a")})).To(Equal([]oracle.Excess{{of("b"), 2, 1}}))
	all := want.TooMany(oracle.Counts{of("b"): 2, of("a"): 3, deleted: 1}, nil)
	g.Expect(all).To(Equal([]oracle.Excess{{of("a"), 3, 1}, {of("b"), 2, 1}, {deleted, 1, 0}}))
	g.Expect(all[0].String()).To(Equal("created secrets a 3 times, but 1 times in the reference run"))
	g.Expect(all[2].String()).To(Equal("deleted secrets a 1 times, but 0 times in the reference run"))
}

func TestMergedCountsMarkVaryingChanges(t *testing.T) {
	a, b, c, d := oracle.Change{Object: "a"}, oracle.Change{Object: "b"}, oracle.Change{Object: "c"}, oracle.Change{Object: "d"}
	counts := oracle.Counts{a: 1, b: 1, c: 1}
	counts.Merge(oracle.Counts{a: 1, b: 2, d: 1})
	NewWithT(t).Expect(counts).To(Equal(oracle.Counts{a: 1, b: oracle.Varying, c: oracle.Varying, d: oracle.Varying}))
}
