package edits

import "slices"

// Memcached is the Contract of cache.example.com/v1alpha1 Memcached.
var Memcached = Contract{
	Refusals: slices.Concat(imageRefusals, []Refusal{
		{"a missing spec", `{"spec":null}`, []string{"spec", "Required value"}},
		{"a missing size", `{"spec":{"size":null}}`, []string{"spec.size", "Required value"}},
		{"a negative size", `{"spec":{"size":-1}}`, []string{"spec.size", "greater than or equal to 0"}},
		{"a size that no int32 holds", `{"spec":{"size":2147483648}}`, []string{"spec.size", "int32"}},
		{"a size that no int64 holds", `{"spec":{"size":9223372036854775808}}`, []string{"spec.size", "integer"}},
		{"a size that is no whole number", `{"spec":{"size":0.5}}`, []string{"spec.size", "integer"}},
		{"a size in quotes", `{"spec":{"size":"3"}}`, []string{"spec.size", "must be of type integer"}},
		{"a misspelt field", `{"spec":{"sizes":3}}`, []string{`unknown field "spec.sizes"`}},
		{"an unknown field deep down", `{"spec":{"template":{"spec":{"hostNetwork":true}}}}`, []string{`unknown field "spec.template"`}},
		{"an unknown field beside the spec", `{"specs":{"size":3}}`, []string{`unknown field "specs"`}},
		{"an unknown field of the metadata", `{"metadata":{"label":{"a":"b"}}}`, []string{`unknown field "metadata.label"`}},
		{"a list as its spec", `{"spec":[]}`, []string{"spec", "must be of type object"}},
	}),
	Acceptances: slices.Concat(imageAcceptances, []Acceptance{
		{"size 0", `{"spec":{"size":0}}`, ""},
		{"a size as large as an int32 can be", `{"spec":{"size":2147483647}}`, ""},
		{"an absent image as the pinned one", `{"spec":{"image":null}}`, `{"spec":{"image":"memcached:1.6.39-alpine"}}`},
	}),
}
