package record

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestChangesSinceListsObjects(t *testing.T) {
	g := NewWithT(t)
	history := newTestHistory(t)
	history.Record(ObjectVersion{Unstructured: configMap("old", 1, 1)})
	start := time.Now()
	history.Record(ObjectVersion{Unstructured: configMap("new", 1, 2)})
	history.Record(ObjectVersion{Unstructured: configMap("old", 2, 3)})
	history.Record(ObjectVersion{Unstructured: configMap("old", 3, 4)})
	g.Expect(history.changesSince("new", start)).To(Equal("\nConfigMap/settings changed 1 times, last change:\ncreated\n"))
	g.Expect(history.changesSince("old", start)).To(And(HavePrefix("\nConfigMap/settings changed 2 times, last change:\n"),
		ContainSubstring("-  value: 2\n"), ContainSubstring("+  value: 3\n")))
	history.Record(ObjectVersion{Unstructured: configMap("old", 3, 5), Deleted: true})
	g.Expect(history.changesSince("old", start)).To(HaveSuffix("changed 3 times, last change:\ndeleted\n"))
	g.Expect(history.changesSince("old", time.Now())).To(BeEmpty())
}
