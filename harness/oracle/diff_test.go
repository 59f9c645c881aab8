package oracle

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestDiffNamesDifferingFields(t *testing.T) {
	const want = `{"spec": {"a": 1, "b": 1, "c": 1}, "status": {"conditions": [{"type": "Ready", "message": "soon"}], "d.e": 1}}`
	for got, fields := range map[string]string{
		`{"spec": {"a": 2, "b": 1, "c": 1}, "status": {"conditions": [{"type": "Ready", "message": "late"}], "d.e": 1}}`: "spec.a",
		`{"spec": {"b": 1, "c": 1}, "status": {"conditions": [], "d.e": 2}}`:                                             "spec.a, status.conditions, status.d.e",
		`{"spec": {"a": 2, "b": 2, "c": 2}, "status": {"conditions": [], "d.e": 1}}`:                                     "spec, status",
		`{"spec": {"a": 1, "b": 1, "c": 1}}`:                                                                             "status",
	} {
		g := NewWithT(t)
		g.Expect(Diff(Snapshot{"Web/a": want}, Snapshot{"Web/a": got})).To(HavePrefix("--- want Web/a\n+++ got Web/a (differs in " + fields + ")\n"))
		g.Expect(Diff(Snapshot{"Web/a": got}, Snapshot{"Web/a": want})).To(HavePrefix("--- want Web/a\n+++ got Web/a (differs in "+fields+")\n"), "in the opposite direction")
	}
}

// Hashes differ between runs, so they are not part of the name of an unexpected object.
func TestUnexpectedObjectIsNamedWithoutHash(t *testing.T) {
	g := NewWithT(t)
	for key, name := range map[string]string{"ReplicaSet.apps/web-5d4f8b7c9d": "web-*", "ControllerRevision.apps/web-5d4f8b7c9d-2": "web-*", "Secret.apps/web-shop #2": "web-shop"} {
		found := Differences(Snapshot{}, Snapshot{key: "{}"})
		g.Expect(found).To(HaveLen(1))
		g.Expect([]bool{found[0].InWant, found[0].InGot}).To(Equal([]bool{false, true}))
		missing := Differences(Snapshot{key: "{}"}, Snapshot{})[0]
		g.Expect([]bool{missing.InWant, missing.InGot}).To(Equal([]bool{true, false}))
		g.Expect(key).To(HavePrefix(found[0].Kind + ".apps/"))
		g.Expect(found[0].Name).To(Equal(name))
	}
}

func TestDiffShowsInvalidYAMLUnchanged(t *testing.T) {
	NewWithT(t).Expect(Diff(Snapshot{"Web/a": "{"}, Snapshot{"Web/a": "["})).To(ContainSubstring("-{+["))
}

func TestLargeNumbersDiffer(t *testing.T) {
	g := NewWithT(t)
	one, two := Snapshot{"Web/a": `{"spec":{"id":9007199254740992}}`}, Snapshot{"Web/a": `{"spec":{"id":9007199254740993}}`}
	g.Expect(Diff(one, two)).To(And(ContainSubstring("(differs in spec.id)"), ContainSubstring("9007199254740992"), ContainSubstring("9007199254740993")))
	g.Expect((&Nondeterminism{}).Learn(one, two)).To(Equal([]string{"Web/a spec.id"}))
}
