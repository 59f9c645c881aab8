package oracle

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestConditionMessagesAreNotCompared(t *testing.T) {
	const want = `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Waiting","message":"for a"}]}}`
	for name, test := range map[string]struct {
		want, got string
		differs   bool
	}{
		"message":                       {want, `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Waiting","message":"for b"}]}}`, false},
		"reason":                        {want, `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Failed","message":"for a"}]}}`, true},
		"status":                        {want, `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Waiting","message":"for a"}]}}`, true},
		"message in a nested list":      {`{"status":{"parts":[{"conditions":[{"message":"a"}]}]}}`, `{"status":{"parts":[{"conditions":[{"message":"b"}]}]}}`, false},
		"messages of all conditions":    {`{"status":{"conditions":[{"message":"a"},{"message":"a"}]}}`, `{"status":{"conditions":[{"message":"b"},{"message":"b"}]}}`, false},
		"message outside of conditions": {`{"status":{"message":"a"}}`, `{"status":{"message":"b"}}`, true},
		"message in a spec":             {`{"spec":{"conditions":[{"message":"a"}]}}`, `{"spec":{"conditions":[{"message":"b"}]}}`, true},
		"invalid JSON":                  {`a`, `b`, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			one, two := Snapshot{"Web/a": test.want}, Snapshot{"Web/a": test.got}
			none := BeEmpty()
			if test.differs {
				none = Not(none)
			}
			g.Expect(Diff(one, two)).To(none)
			g.Expect((&Nondeterminism{}).Learn(one, two)).To(none, "Learn ignores messages as well")
		})
	}
	g := NewWithT(t)
	got := `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Failed","message":"no b"}]}}`
	g.Expect(Diff(Snapshot{"Web/a": want}, Snapshot{"Web/a": got})).To(And(ContainSubstring("-  - message: for a"), ContainSubstring("+  - message: no b")),
		"the message is shown if other fields differ")
}
