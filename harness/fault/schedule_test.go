package fault

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"
)

// In the steps, action is an action of the scenario, create is a request by the operator, and event is a ConfigMap
// event. A number in parentheses is the expected number of triggered faults so far. The field "at" is the position of
// the second fault, counted from the beginning of the run.
func TestPairsOfFaults(t *testing.T) {
	for faults, test := range map[string]struct{ steps, at string }{
		"crash-after create configmaps - 2, then crash-before create configmaps - 2":     {"create (0) create (1) create (1) create (2) create (2)", "create configmaps - 4"},
		"lost-response create secrets - 1, then stale watch configmaps - 1":              {"action create event (0)", ""},
		"lost-response create configmaps - 1, then stale watch configmaps - 1":           {"action action event (0) create event (2)", "watch configmaps - 2"},
		"lost-response create configmaps - 1, then stale watch configmaps - 2":           {"action create event (1) action event (2)", "watch configmaps - 2"},
		"stale watch configmaps - 1, then lost-response create configmaps - 1":           {"create action event (1) create (2)", "create configmaps - 2"},
		"slow-writes, then crash-before create configmaps - 2":                           {"create (1) create (1) create (2)", "create configmaps - 3"},
		"error-burst-503 create configmaps - 1, then crash-before create configmaps - 2": {"create (1) create (1) create (2)", "create configmaps - 3"},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			var parsed []Fault
			for text := range strings.SplitSeq(faults, ", then ") {
				of, err := Parse(text)
				g.Expect(err).NotTo(HaveOccurred())
				parsed = append(parsed, of)
			}
			injector := New(Scope{}, parsed...)
			client, _ := clientOf(t, injector)
			for step := range strings.FieldsSeq(test.steps) {
				switch step {
				case "action":
					injector.NextAction()
				case "event":
					injector.delayEvent("configmaps")
				case "create":
					if client.Post().AbsPath("/api/v1/namespaces/run/configmaps").Do(t.Context()); injector.lives.newest.crashed.isSent() {
						client, _ = clientOf(t, injector)
					}
				default:
					g.Expect("("+strconv.Itoa(len(injector.Triggers()))+")").To(Equal(step), faults)
				}
			}
			if all := injector.Triggers(); test.at != "" {
				g.Expect(all[1].At.String()).To(Equal(test.at), faults)
				g.Expect(injector.TriggeredAt()).To(Equal(all[0].Time))
			}
		})
	}
}

func TestWritesAfterFault(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "crash-after create configmaps - 2")
	client, _ := newInstance(t, injector)
	injector.NextAction()
	g.Expect(create(ctx, client, namespace, "before")).To(Succeed())
	g.Expect(injector.Journal.WritesAfterFault()).To(BeEmpty())
	g.Expect(create(ctx, client, namespace, "crashed")).To(MatchError(errDisconnected))

	client, _ = newInstance(t, injector)
	g.Expect(create(ctx, client, namespace, "crashed")).NotTo(Succeed(), "the object already exists, so this is not a write")
	g.Expect(create(ctx, client, namespace, "after")).To(Succeed())
	after := []RequestKey{{Verb: "create", Target: "configmaps", Name: "-", Nth: 2}}
	g.Expect(injector.Journal.WritesAfterFault()).To(Equal(after))
	injector.NextAction()
	g.Expect(create(ctx, client, namespace, "later")).To(Succeed())
	g.Expect(injector.Journal.WritesAfterFault()).To(Equal(after))
}
