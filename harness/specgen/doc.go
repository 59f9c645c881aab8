// Package specgen generates specs for custom resources from nothing but the schema of their
// CustomResourceDefinition, so that an operator meets values that its author did not think of:
//
//	schema, err := specgen.New(crd, "v1", specgen.WithExamples("spec.image", "nginx:1.23.1", "nginx:1.23.0"))
//	for _, t := range schema.Transitions(seed, 40) {
//		// t.From and t.To are specs; t.String() says what changes
//	}
//	for _, invalid := range schema.Invalid() {
//		// the API server rejects invalid.Spec because of invalid.Why
//	}
//
// This is how Acto (SOSP'23) tests operators: a transition to a spec must end like a fresh deployment of that spec
// (oracle.TransitionOracle checks that), and an operator must recover from a bad spec.
//
// # What is generated
//
// Each field gets few values, those at which operators fail: absent where it may be, and so the default; every
// value of an enum; the bounds of a number and one between them; strings by format, pattern and length; both
// booleans; lists and maps of none, one and two elements; null where it is allowed. Objects start with the required
// fields alone, and then each field changes by itself. What violates oneOf, anyOf or not is left out. Numbers
// without a maximum stay small, because they tend to be numbers of Pods. All this is the same at each run: a seed
// decides only about the order, and about the combinations of random specs.
//
// # What the schema does not say
//
// Which images exist, or which names, is given by WithExamples. CEL rules, admission webhooks and policies only an
// API server can evaluate: Admitted asks one, also about transition rules, such as that a field must not change.
package specgen
