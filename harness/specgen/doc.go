// Package specgen generates specs for a custom resource from the schema of its CustomResourceDefinition. The specs
// contain values that the author of the operator may not have tested:
//
//	schema, err := specgen.New(crd, "v1", map[string][]any{"spec.image": {"nginx:1.23.1", "nginx:1.23.0"}})
//	for _, t := range schema.Transitions(seed, 40) {
//		// t.From and t.To are specs; t.String() describes the change
//	}
//	for _, invalid := range schema.Invalid() {
//		// the API server rejects invalid.Spec because of invalid.Why
//	}
//
// Acto (SOSP'23) tests operators in the same way. A transition to a spec must end in the same state as a new resource
// with that spec (see oracle.TransitionOracle), and an operator must recover from an invalid spec.
//
// # Generated values
//
// Each field gets a few values at which operators tend to fail:
//   - no value, if the field is optional, and null if it is nullable
//   - each value of an enum, and both booleans
//   - the bounds of a number and a value in between; without a maximum, only small numbers, because many such fields
//     are replica counts
//   - strings that match the format, the pattern and the length limits
//   - lists and maps with zero, one and two elements
//
// The seed affects only the order of the transitions.
//
// # Limits of the schema
//
// Pass examples to New for values that a schema cannot describe, such as the names of existing images. CEL rules are
// evaluated, but admission webhooks and policies are not.
package specgen
