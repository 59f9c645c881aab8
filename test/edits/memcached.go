package edits

import "slices"

// Memcached is the Contract of cache.example.com/v1alpha1 Memcached.
var Memcached = Contract{
	Refusals: slices.Concat(imageRefusals, []Refusal{
		{"a missing spec", `{"spec":null}`, []string{"spec", "Required value"}},
		{"a missing size", `{"spec":{"size":null}}`, []string{"spec.size", "Required value"}},
		{"a negative size", `{"spec":{"size":-1}}`, []string{"spec.size", "greater than or equal to 0"}},
		{"a size above the maximum of int32", `{"spec":{"size":2147483648}}`, []string{"spec.size", "int32"}},
		{"a size above the maximum of int64", `{"spec":{"size":9223372036854775808}}`, []string{"spec.size", "integer"}},
		{"a fractional size", `{"spec":{"size":0.5}}`, []string{"spec.size", "integer"}},
		{"a size in quotes", `{"spec":{"size":"3"}}`, []string{"spec.size", "must be of type integer"}},
		{"a misspelt field", `{"spec":{"sizes":3}}`, []string{`unknown field "spec.sizes"`}},
		{"a nested unknown field", `{"spec":{"template":{"spec":{"hostNetwork":true}}}}`, []string{`unknown field "spec.template"`}},
		{"an unknown top-level field", `{"specs":{"size":3}}`, []string{`unknown field "specs"`}},
		{"an unknown field in the metadata", `{"metadata":{"label":{"a":"b"}}}`, []string{`unknown field "metadata.label"`}},
		{"a list as spec", `{"spec":[]}`, []string{"spec", "must be of type object"}},
	}),
	Acceptances: slices.Concat(imageAcceptances, []Acceptance{
		{"size 0", `{"spec":{"size":0}}`, ""},
		{"the maximum of int32 as size", `{"spec":{"size":2147483647}}`, ""},
		{"a missing image, and uses the pinned one", `{"spec":{"image":null}}`, `{"spec":{"image":"memcached:1.6.39-alpine"}}`},
	}),
}
