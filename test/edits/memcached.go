package edits

import "slices"

// Memcached is the Contract of cache.example.com/v1alpha1 Memcached.
var Memcached = Contract{
	Refusals: slices.Concat(imageRefusals, []Refusal{
		{"a missing spec", `{"spec":null}`, []string{"spec", "Required value"}},
		{"a missing size", `{"spec":{"size":null}}`, []string{"spec.size", "Required value"}},
		{"a negative size", `{"spec":{"size":-1}}`, []string{"spec.size", "greater than or equal to 0"}},
		{"a size above the maximum of int32", `{"spec":{"size":2147483648}}`, []string{"spec.size", "int32"}},
		{"a misspelt field", `{"spec":{"sizes":3}}`, []string{`unknown field "spec.sizes"`}},
	}),
	Acceptances: slices.Concat(imageAcceptances, []Acceptance{
		{"size 0", `{"spec":{"size":0}}`, ""},
		{"the maximum of int32 as size", `{"spec":{"size":2147483647}}`, ""},
		{"a missing image, and uses the pinned one", `{"spec":{"image":null}}`, `{"spec":{"image":"memcached:1.6.39-alpine"}}`},
	}),
}
