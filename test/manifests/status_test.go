package manifests

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
)

// status is a valid status of both kinds.
const status = `{"status":{"observedGeneration":1,"replicas":2,"readyReplicas":1,"selector":"app=edited","nodes":["edited-1","edited-2"]}}`

// condition is a valid condition.
const condition = `{"type":"Available","status":"True","reason":"PodsReady","message":"2 Pods are ready","observedGeneration":1,
	"lastTransitionTime":"2026-01-01T00:00:00Z"}`

// reported is an edit of a status that must be rejected. says contains parts of the error message.
type reported struct {
	what, edit string
	says       []string
}

// If a Go client cannot decode a status, its informers for the kind stop working.
func TestAStatusThatClientsCannotReadIsRefused(t *testing.T) {
	each := []reported{
		{"an observed generation that no int64 holds", `{"observedGeneration":1e300}`, []string{"status.observedGeneration", "int64"}},
		{"an observed generation in quotes", `{"observedGeneration":"1"}`, []string{"status.observedGeneration", "must be of type integer"}},
		{"a condition that is a list", `{"conditions":[[]]}`, []string{"status.conditions", "must be of type object"}},
		{"conditions by type", `{"conditions":{"Available":{}}}`, []string{"status.conditions", "must be of type array"}},
		{"Pods in one string", `{"nodes":"edited-1"}`, []string{"status.nodes", "must be of type array"}},
		{"Pods by number", `{"nodes":[1]}`, []string{"status.nodes", "must be of type string"}},
		{"more Pods than an object holds", `{"nodes":` + names(10_001) + `}`, []string{"status.nodes", "10000"}},
		{"a selector that is none", `{"selector":1}`, []string{"status.selector", "must be of type string"}},
		{"what the schema does not know", `{"phase":"Running"}`, []string{`unknown field "status.phase"`}},
		{"two conditions of a type", `{"conditions":[` + condition + `,` + condition + `]}`, []string{"status.conditions", "duplicate"}},
	}
	for _, count := range []string{"replicas", "readyReplicas"} {
		each = append(each, reported{count + " that no int32 holds", `{"` + count + `":2147483648}`, []string{"status." + count, "int32"}},
			reported{count + " in quotes", `{"` + count + `":"1"}`, []string{"status." + count, "must be of type integer"}})
	}
	all := map[string][]reported{"Memcached": each, "WebServer": append([]reported{
		{"node port 0", `{"nodePort":0}`, []string{"status.nodePort", "greater than or equal to 1"}},
		{"node port 65536", `{"nodePort":65536}`, []string{"status.nodePort", "less than or equal to 65535"}},
		{"a node port in quotes", `{"nodePort":"1"}`, []string{"status.nodePort", "must be of type integer"}},
	}, each...)}
	for name, refusals := range all {
		k, valid := served(t, name), edited(t, parsed(t, contracts[name].valid), status)
		for _, r := range refusals {
			t.Run(name+" with "+r.what, func(t *testing.T) {
				refused(t, k.judge(edited(t, valid, `{"status":`+r.edit+`}`), nil), r.says...)
			})
		}
	}
}

// If the API server rejects a status update, users never see the status, and the operator retries forever.
func TestAStatusMaySayAllThatTheOperatorCanObserve(t *testing.T) {
	each := []string{`{}`, `{"observedGeneration":1099511627776}`, `{"replicas":2147483647,"readyReplicas":2147483647}`, `{"replicas":0,"readyReplicas":0}`,
		`{"nodes":` + names(10_000) + `}`, `{"conditions":[` + condition + `,` + strings.Replace(condition, "Available", "Degraded", 1) + `]}`}
	all := map[string][]string{"Memcached": each, "WebServer": append([]string{`{"nodePort":1}`, `{"nodePort":65535}`}, each...)}
	for name, reports := range all {
		k, valid := served(t, name), edited(t, parsed(t, contracts[name].valid), status)
		for _, edit := range reports {
			if err := k.judge(edited(t, valid, `{"status":`+edit+`}`), nil); err != nil {
				t.Errorf("%s refuses %.80s: %v", name, edit, err)
			}
		}
	}
}

// Generic clients read conditions in the standard format.
func TestAConditionIsWhatKubectlWaitUnderstands(t *testing.T) {
	refusals := []reported{
		{"a moment that is none", `{"lastTransitionTime":"yesterday"}`, []string{"lastTransitionTime", "date-time"}},
		{"a message by number", `{"message":1}`, []string{"message", "must be of type string"}},
		{"a message without end", `{"message":"` + strings.Repeat("m", 32769) + `"}`, []string{"message", "32768"}},
		{"a generation before the first", `{"observedGeneration":-1}`, []string{"observedGeneration", "greater than or equal to 0"}},
		{"a generation that no int64 holds", `{"observedGeneration":1e300}`, []string{"observedGeneration", "int64"}},
		{"a generation in quotes", `{"observedGeneration":"1"}`, []string{"observedGeneration", "must be of type integer"}},
		{"no reason", `{"reason":""}`, []string{"reason", "at least 1"}},
		{"a reason by number", `{"reason":1}`, []string{"reason", "must be of type string"}},
		{"a reason that is a sentence", `{"reason":"it is so"}`, []string{"reason", "should match"}},
		{"a reason without end", `{"reason":"` + strings.Repeat("r", 1025) + `"}`, []string{"reason", "1024"}},
		{"another status", `{"status":"Yes"}`, []string{"status", `"True", "False", "Unknown"`}},
		{"a boolean status", `{"status":true}`, []string{"status", "must be of type string"}},
		{"a type with a blank", `{"type":"is available"}`, []string{"type", "should match"}},
		{"a type by number", `{"type":1}`, []string{"type", "must be of type string"}},
		{"a type without end", `{"type":"` + strings.Repeat("t", 317) + `"}`, []string{"type", "316"}},
		{"what the schema does not know", `{"severity":"high"}`, []string{`unknown field "status.conditions[0].severity"`}},
	}
	for _, required := range []string{"lastTransitionTime", "message", "reason", "status", "type"} {
		refusals = append(refusals, reported{"no " + required, `{"` + required + `":null}`, []string{required, "Required value"}})
	}
	acceptances := []string{`{}`, `{"message":""}`, `{"message":"` + strings.Repeat("m", 32768) + `"}`, `{"observedGeneration":null}`,
		`{"observedGeneration":0}`, `{"observedGeneration":1099511627776}`, `{"reason":"R"}`, `{"reason":"` + strings.Repeat("r", 1024) + `"}`,
		`{"status":"False"}`, `{"status":"Unknown"}`, `{"type":"example.com/Ready"}`, `{"type":"` + strings.Repeat("t", 316) + `"}`}
	for name := range contracts {
		k, valid := served(t, name), edited(t, parsed(t, contracts[name].valid), status)
		judge := func(edit string) error {
			one, err := json.Marshal(edited(t, parsed(t, condition), edit))
			noError(t, err)
			return k.judge(edited(t, valid, fmt.Sprintf(`{"status":{"conditions":[%s]}}`, one)), nil)
		}
		for _, r := range refusals {
			t.Run(name+" with "+r.what, func(t *testing.T) { refused(t, judge(r.edit), r.says...) })
		}
		for _, edit := range acceptances {
			if err := judge(edit); err != nil {
				t.Errorf("%s refuses %.80s: %v", name, edit, err)
			}
		}
	}
}

// Users rely on a node port, so only spec.nodePort may change it.
func TestANodePortIsKeptForLife(t *testing.T) {
	k := served(t, "WebServer")
	valid := edited(t, parsed(t, contracts["WebServer"].valid), status)
	old := edited(t, valid, `{"status":{"nodePort":30001}}`)
	for edit, taken := range map[string]bool{
		`{"status":{"nodePort":30001}}`:                           true,
		`{"status":{"nodePort":30001,"readyReplicas":2}}`:         true,
		`{"spec":{"nodePort":30002},"status":{"nodePort":30002}}`: true,
		`{"spec":{"nodePort":30002},"status":{"nodePort":30001}}`: true,
		`{"spec":{"nodePort":30002},"status":{"nodePort":30003}}`: false,
		`{"status":{"nodePort":30002}}`:                           false,
		`{}`:                                                      false,
		`{"status":null}`:                                         false,
		`{"spec":{"nodePort":30002}}`:                             false,
	} {
		err := k.judge(edited(t, valid, edit), maps.Clone(old))
		if taken && err != nil {
			t.Errorf("%s is refused: %v", edit, err)
		}
		if !taken {
			refused(t, err, "status.nodePort is kept for life: set spec.nodePort to change it")
		}
	}
	for _, first := range []string{`{}`, `{"status":null}`} {
		if err := k.judge(edited(t, valid, `{"status":{"nodePort":30001}}`), edited(t, valid, first)); err != nil {
			t.Errorf("the first node port is refused: %v", err)
		}
	}
}

// names returns a JSON list with the given number of Pod names.
func names(count int) string {
	return `["` + strings.Repeat(`p","`, count-1) + `p"]`
}
