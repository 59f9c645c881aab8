package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
)

// beDegraded matches a resource that is Degraded for its current generation, with the given reason and a message
// containing the given words.
func beDegraded(reason string, words ...string) types.GomegaMatcher {
	return And(
		haveCondition(workload.Degraded, metav1.ConditionTrue, reason),
		WithTransform(func(resource workloadObject) string {
			return meta.FindStatusCondition(resource.CommonStatus().Conditions, workload.Degraded).Message
		}, containAll(words)))
}

// eventsIn returns a function that lists the Events of a namespace, each formatted as one line.
func eventsIn(namespace string) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		events := &eventsv1.EventList{}
		err := plane.Client.List(ctx, events, client.InNamespace(namespace))
		var lines []string
		for _, event := range events.Items {
			lines = append(lines, fmt.Sprintf("%s %s: %s", event.Type, event.Reason, event.Note))
		}
		return lines, err
	}
}

// haveEvent matches a list containing an Event with the given type and reason whose message contains the given words.
func haveEvent(kind, reason string, words ...string) types.GomegaMatcher {
	return ContainElement(And(HavePrefix("%s %s: ", kind, reason), containAll(words)))
}

func containAll(words []string) types.GomegaMatcher {
	all := make([]types.GomegaMatcher, len(words))
	for i, word := range words {
		all[i] = ContainSubstring(word)
	}
	return And(all...)
}
