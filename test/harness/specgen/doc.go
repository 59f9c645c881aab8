// Package specgen invents specs for custom resources, from nothing but the schema of their
// CustomResourceDefinition, so that an operator meets values that its author did not think of:
//
//	schema, err := specgen.FromFile("crd.yaml", "v1",
//		specgen.Examples("spec.image", "nginx:1.23.1", "nginx:1.23.0"),
//		specgen.WithMaximum("spec.replicas", 5))
//	for _, t := range schema.Transitions(seed, 40) {
//		// t.From and t.To are specs; t says in words what changes
//	}
//	for _, bad := range schema.Bad() {
//		// the API server refuses bad.Spec because of bad.Why
//	}
//
// This is how Acto (SOSP'23) tests operators: a transition to a spec has to end as a fresh deployment
// of that spec does (package oracle's Fresh judges that), and a bad spec has to be recovered from.
//
// # What is chosen
//
// Each field gets few values, those where operators err: absent, where it may be, and with it the
// default; every value of an enum; the bounds of a number and one between them; strings by format,
// pattern and length; both booleans; lists and maps of none, one and two; null, where it is allowed.
// Objects start with what is required alone, and then each field moves by itself. What contradicts
// oneOf, anyOf or not is left out. Numbers without a maximum stay small, because they tend to be
// numberValues of Pods. All this is the same at each run: a seed decides only about the order, and about
// what random specs combine.
//
// # What is not known
//
// Everything that the schema does not say. Which images exist, or which names, is for WithExamples.
// Rules in CEL, admission webhooks and policies only an API server can judge: Admitted asks one, and
// also for rules about transitions, such as that a field must not change.
package specgen
