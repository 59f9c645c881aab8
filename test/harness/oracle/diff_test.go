package oracle

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestADiffNamesTheFieldsThatDiffer(t *testing.T) {
	const want = `{"spec": {"a": 1, "b": 1, "c": 1}, "status": {"conditions": [{"type": "Ready", "message": "soon"}], "d.e": 1}}`
	for got, fields := range map[string]string{
		`{"spec": {"a": 2, "b": 1, "c": 1}, "status": {"conditions": [{"type": "Ready", "message": "late"}], "d.e": 1}}`: "spec.a",
		`{"spec": {"b": 1, "c": 1}, "status": {"conditions": [], "d.e": 2}}`:                                             "spec.a, status.conditions, status.d.e",
		`{"spec": {"a": 2, "b": 2, "c": 2}, "status": {"conditions": [], "d.e": 1}}`:                                     "spec, status",
		`{"spec": {"a": 1, "b": 1, "c": 1}}`:                                                                             "status",
	} {
		NewWithT(t).Expect(Diff(Snapshot{"Web/a": want}, Snapshot{"Web/a": got})).To(HavePrefix("--- want Web/a\n+++ got Web/a (differs in " + fields + ")\n"))
	}
}
