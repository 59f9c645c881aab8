// Package specgen changes the spec of a custom resource according to the schema of its CustomResourceDefinition:
//
//	schema, err := specgen.New(crd, "v1")
//	for t := range schema.Transitions(spec, 1) {
//		// t.To differs from spec in t.Field
//	}
//	for _, invalid := range schema.Invalid(spec) {
//		// the API server rejects invalid.Spec because of invalid.Why
//	}
//
// Acto (SOSP'23) tests operators in the same way. A transition to a spec must end in the same state as a new resource
// with that spec (see oracle.TransitionOracle), and an operator must recover from an invalid spec.
//
// A field gets values similar to its current one, such as one fewer replica, and values that match its type, enum,
// bounds, format and pattern. Fields that look like a field of a Kubernetes type, such as imagePullPolicy, get the
// values of that type. CEL rules are evaluated, but admission webhooks and policies are not.
package specgen
