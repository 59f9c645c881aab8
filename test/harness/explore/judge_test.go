package explore

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/test/harness/faultinject"
)

func TestOnlyALateCreateOfANamedObjectMayMakeItOnceMore(t *testing.T) {
	apply := faultinject.RequestKey{Verb: "apply", Target: "secrets", Name: "web", Nth: 1}
	post := faultinject.RequestKey{Verb: "create", Target: "secrets", Name: "-", Nth: 1}
	madeUp := faultinject.RequestKey{Verb: "create", Target: "secrets", Name: "-", Nth: 2}
	ref := &reference{
		writes: []faultinject.Write{{RequestKey: apply, Object: "web"}, {RequestKey: post, Object: "db"}, {RequestKey: madeUp, Object: "key-*"}},
		counts: map[string]int{"created secrets web": 1, "created secrets db": 1, "created secrets key-*": 1},
	}
	for name, test := range map[string]struct {
		faultType faultinject.Type
		at        faultinject.RequestKey
		object    string
		times     int
		blamed    bool
	}{
		"late, applied":         {faultinject.DelayedWrite, apply, "web", 2, false},
		"late, created":         {faultinject.DelayedWrite, post, "db", 2, false},
		"late, twice too often": {faultinject.DelayedWrite, post, "db", 3, true},
		"late, never":           {faultinject.DelayedWrite, post, "db", 0, false},
		"late, of made-up name": {faultinject.DelayedWrite, madeUp, "key-*", 2, true},
		"late, another object":  {faultinject.DelayedWrite, apply, "db", 2, true},
		"a crash":               {faultinject.CrashAfter, post, "db", 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]int{"created secrets web": 1, "created secrets db": 1, "created secrets key-*": 1}
			got[created("secrets", test.object)] = test.times
			err := ref.count(got, []faultinject.Trigger{{Fault: faultinject.Fault{Type: test.faultType, At: test.at}}})
			NewWithT(t).Expect(err != nil).To(Equal(test.blamed), "%v", err)
		})
	}
}
