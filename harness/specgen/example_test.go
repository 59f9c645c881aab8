package specgen_test

import (
	"fmt"

	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/specgen"
)

// The first transitions change a single field. Later ones combine changes.
func ExampleSchema_Transitions() {
	crds, err := project.ReadCRDs("testdata/queue.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	schema, err := specgen.New(crds[0], "v1beta1")
	if err != nil {
		fmt.Println(err)
		return
	}
	transitions := schema.Transitions(1, 40)
	for _, i := range []int{0, 1, 2, 3, 39} {
		fmt.Println(transitions[i])
	}
	for _, bad := range schema.Invalid()[:2] {
		fmt.Println(bad.Field, "is invalid:", bad.Why)
	}
	// Output:
	// spec.engine: "rabbit" → "none"
	// spec.size: 3 → absent
	// spec.engine: "none" → "kafka"
	// spec.size: absent → 0
	// spec.engine: "rabbit" → "none", spec.size: 3 → absent
	// spec.engine is invalid: spec.engine: Required value
	// spec.engine is invalid: spec.engine: Unsupported value: "none-of-these": supported values: "rabbit", "kafka", "none"
}
