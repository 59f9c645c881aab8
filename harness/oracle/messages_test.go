package oracle

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheMessageOfAConditionIsNoDifference(t *testing.T) {
	const want = `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Waiting","message":"for a"}]}}`
	for name, test := range map[string]struct {
		want, got string
		differs   bool
	}{
		"the message":              {want, `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Waiting","message":"for b"}]}}`, false},
		"no message":               {want, `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Waiting"}]}}`, false},
		"the reason":               {want, `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Failed","message":"for a"}]}}`, true},
		"the status":               {want, `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Waiting","message":"for a"}]}}`, true},
		"a condition":              {want, `{"status":{"conditions":[]}}`, true},
		"of a part":                {`{"status":{"parts":[{"conditions":[{"message":"a"}]}]}}`, `{"status":{"parts":[{"conditions":[{"message":"b"}]}]}}`, false},
		"of all conditions":        {`{"status":{"conditions":[{"message":"a"},{"message":"a"}]}}`, `{"status":{"conditions":[{"message":"b"},{"message":"b"}]}}`, false},
		"of all parts":             {`{"status":{"parts":[{"conditions":[{"message":"a"}]},{"conditions":[{"message":"a"}]}]}}`, `{"status":{"parts":[{"conditions":[{"message":"b"}]},{"conditions":[{"message":"b"}]}]}}`, false},
		"of all fields":            {`{"status":{"one":{"conditions":[{"message":"a"}]},"two":{"conditions":[{"message":"a"}]}}}`, `{"status":{"one":{"conditions":[{"message":"b"}]},"two":{"conditions":[{"message":"b"}]}}}`, false},
		"conditions that are text": {`{"status":{"conditions":["a"]}}`, `{"status":{"conditions":["b"]}}`, true},
		"another field's message":  {`{"status":{"message":"a"}}`, `{"status":{"message":"b"}}`, true},
		"another list's messages":  {`{"status":{"warnings":[{"message":"a"}]}}`, `{"status":{"warnings":[{"message":"b"}]}}`, true},
		"a message in a spec":      {`{"spec":{"conditions":[{"message":"a"}]}}`, `{"spec":{"conditions":[{"message":"b"}]}}`, true},
		"what is no JSON at all":   {`a`, `b`, true},
		"conditions that are maps": {`{"status":{"conditions":{"message":"a"}}}`, `{"status":{"conditions":{"message":"b"}}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			one, two := Snapshot{"Web/a": test.want}, Snapshot{"Web/a": test.got}
			none := BeEmpty()
			if test.differs {
				none = Not(none)
			}
			g.Expect(Diff(one, two)).To(none)
			g.Expect((&Nondeterminism{}).Learn(one, two)).To(none, "nor is it told as random")
		})
	}
	g := NewWithT(t)
	got := `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Failed","message":"no b"}]}}`
	g.Expect(Diff(Snapshot{"Web/a": want}, Snapshot{"Web/a": got})).To(And(ContainSubstring("-  - message: for a"), ContainSubstring("+  - message: no b")),
		"beside another difference it may explain it")
}
