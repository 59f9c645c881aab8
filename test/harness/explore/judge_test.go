package explore

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/test/harness/faults"
)

func TestOnlyALateCreateOfANamedObjectMayMakeItOnceMore(t *testing.T) {
	apply := faults.Point{Verb: "apply", Target: "secrets", Name: "web", Nth: 1}
	post := faults.Point{Verb: "create", Target: "secrets", Name: "-", Nth: 1}
	madeUp := faults.Point{Verb: "create", Target: "secrets", Name: "-", Nth: 2}
	ref := &reference{
		writes: []faults.Write{{Point: apply, Object: "web"}, {Point: post, Object: "db"}, {Point: madeUp, Object: "key-*"}},
		counts: map[string]int{"created secrets web": 1, "created secrets db": 1, "created secrets key-*": 1},
	}
	for name, test := range map[string]struct {
		kind   faults.Kind
		at     faults.Point
		object string
		times  int
		blamed bool
	}{
		"late, applied":         {faults.LateWrite, apply, "web", 2, false},
		"late, created":         {faults.LateWrite, post, "db", 2, false},
		"late, twice too often": {faults.LateWrite, post, "db", 3, true},
		"late, never":           {faults.LateWrite, post, "db", 0, true},
		"late, of made-up name": {faults.LateWrite, madeUp, "key-*", 2, true},
		"late, another object":  {faults.LateWrite, apply, "db", 2, true},
		"a crash":               {faults.CrashAfter, post, "db", 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]int{"created secrets web": 1, "created secrets db": 1, "created secrets key-*": 1}
			got[created("secrets", test.object)] = test.times
			err := ref.count(got, faults.Fault{Kind: test.kind, At: test.at})
			NewWithT(t).Expect(err != nil).To(Equal(test.blamed), "%v", err)
		})
	}
}
