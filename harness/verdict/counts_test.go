package verdict

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestTooMany(t *testing.T) {
	g := NewWithT(t)
	of := func(object string) Change { return Change{Target: "secrets", Object: object} }
	deleted := Change{Deleted: true, Target: "secrets", Object: "a"}
	want := map[Change]int{of("a"): 1, of("b"): 1, of("random"): Varying}
	g.Expect(TooMany(want, map[Change]int{of("a"): 1, of("random"): 7}, nil)).To(Succeed(), "fewer and varying changes are ignored")
	g.Expect(TooMany(want, map[Change]int{of("a"): 2}, []Change{of("a")})).To(Succeed(), "one additional change is allowed")
	g.Expect(TooMany(want, map[Change]int{of("a"): 3}, []Change{of("a")})).NotTo(Succeed())
	g.Expect(TooMany(want, map[Change]int{of("b"): 2}, []Change{of("a")})).NotTo(Succeed())
	g.Expect(TooMany(want, map[Change]int{of("a"): 3, of("b"): 1, deleted: 1}, nil)).To(Equal(Finding{
		Oracle:  Counts,
		Message: "created secrets a 3 times, not 1 as in the reference; deleted secrets a 1 times, not 0 as in the reference",
		Objects: []Object{{Kind: "secrets", Name: "a", Problem: CreatedTooMuch}, {Kind: "secrets", Name: "a", Problem: DeletedTooMuch}},
	}))
}

func TestMergeCounts(t *testing.T) {
	a, b, c, d := Change{Object: "a"}, Change{Object: "b"}, Change{Object: "c"}, Change{Object: "d"}
	want := map[Change]int{a: 1, b: 1, c: 1}
	MergeCounts(want, map[Change]int{a: 1, b: 2, d: 1})
	NewWithT(t).Expect(want).To(Equal(map[Change]int{a: 1, b: Varying, c: Varying, d: Varying}))
}
