package edits

import "slices"

// WebServer is the Contract of my.domain/v1 WebServer.
var WebServer = Contract{
	Refusals: slices.Concat(imageRefusals, []Refusal{
		{"a missing spec", `{"spec":null}`, []string{"spec", "Required value"}},
		{"a missing image", `{"spec":{"image":null}}`, []string{"spec.image", "Required value"}},
		{"a negative number of replicas", `{"spec":{"replicas":-1}}`, []string{"spec.replicas", "greater than or equal to 0"}},
		{"replicas above the maximum of int32", `{"spec":{"replicas":2147483648}}`, []string{"spec.replicas", "int32"}},
		{"port 0", `{"spec":{"port":0}}`, []string{"spec.port", "greater than or equal to 1"}},
		{"port 65536", `{"spec":{"port":65536}}`, []string{"spec.port", "less than or equal to 65535"}},
		{"node port 29999", `{"spec":{"nodePort":29999}}`, []string{"spec.nodePort", "greater than or equal to 30000"}},
		{"node port 32768", `{"spec":{"nodePort":32768}}`, []string{"spec.nodePort", "less than or equal to 32767"}},
		{"node port 0", `{"spec":{"nodePort":0}}`, []string{"spec.nodePort", "greater than or equal to 30000"}},
		{"a misspelt field", `{"spec":{"replica":3}}`, []string{`unknown field "spec.replica"`}},
	}),
	Acceptances: slices.Concat(imageAcceptances, []Acceptance{
		{"missing replicas, and uses 1", `{"spec":{"replicas":null}}`, `{"spec":{"replicas":1}}`},
		{"0 replicas", `{"spec":{"replicas":0}}`, ""},
		{"the maximum of int32 as replicas", `{"spec":{"replicas":2147483647}}`, ""},
		{"a missing port, and uses 80", `{"spec":{"port":null}}`, `{"spec":{"port":80}}`},
		{"port 1", `{"spec":{"port":1}}`, ""},
		{"port 65535", `{"spec":{"port":65535}}`, ""},
		{"the lowest node port", `{"spec":{"nodePort":30000}}`, ""},
		{"the highest node port", `{"spec":{"nodePort":32767}}`, ""},
		{"a missing node port, and leaves it unset", `{"spec":{"nodePort":null}}`, ""},
	}),
}
