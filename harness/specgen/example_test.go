package specgen_test

import (
	"fmt"

	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/specgen"
)

// Each transition changes one field.
func ExampleSchema_Transitions() {
	crds, err := project.ReadCRDs("testdata/queue.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	schema, err := specgen.New(crds[0], "v1beta1", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	transitions := schema.Transitions(1, 4)
	for _, transition := range transitions {
		fmt.Println(transition)
	}
	for _, bad := range schema.Invalid()[:1] {
		fmt.Println(bad.Field, "is invalid:", bad.Why)
	}
	// Output:
	// spec.size: 3 → absent
	// spec.size: absent → 0
	// spec.size: 0 → 1
	// spec.size: absent → 1
	// spec.engine is invalid: spec.engine: Unsupported value: "? !": supported values: "rabbit", "kafka", "none"
}
