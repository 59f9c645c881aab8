package explore

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/fault"
)

func TestDirectlyAfter(t *testing.T) {
	key := func(name string) fault.RequestKey {
		return fault.RequestKey{Verb: "apply", Target: "secrets", Name: name, Nth: 1}
	}
	writes := []fault.Write{
		{RequestKey: key("a"), ResourceVersion: "9"}, {RequestKey: key("b"), ResourceVersion: "12"},
		{RequestKey: key("c"), ResourceVersion: "13"}, {RequestKey: key("deleted")}, {RequestKey: key("d"), ResourceVersion: "100"},
	}
	NewWithT(t).Expect(directlyAfter(writes, []uint64{9, 10, 12, 13, 100, 101})).To(Equal(map[fault.RequestKey]fault.RequestKey{
		key("c"): key("b"), // an object changed between a and b, and before d there was a delete without a resource version
	}))
}
