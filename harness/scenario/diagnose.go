package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
)

const recentEvents = 5

// diagnose describes the subjects and the latest Events. The description is added to the error of a failed step.
func (env *Env) diagnose(ctx context.Context) string {
	lines := append(env.subjects(ctx), env.events(ctx)...)
	return "last seen   " + strings.Join(lines, "\n            ")
}

// subjects describes the subjects. It reads the status fields that the Kubernetes API conventions define.
func (env *Env) subjects(ctx context.Context) []string {
	kind := env.scenario.Subject
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := env.Client.List(ctx, list, client.InNamespace(env.Namespace)); err != nil {
		return []string{fmt.Sprintf("%s cannot be listed: %v", kind.Kind, err)}
	}
	if len(list.Items) == 0 {
		return []string{"no " + kind.Kind}
	}
	var lines []string
	for _, subject := range list.Items {
		observed, _, _ := unstructured.NestedInt64(subject.Object, "status", "observedGeneration")
		lines = append(lines, fmt.Sprintf("%s %s: observedGeneration %d of %d", kind.Kind, subject.GetName(), observed, subject.GetGeneration()))
		var typed struct {
			Status struct {
				Conditions []metav1.Condition `json:"conditions"`
			} `json:"status"`
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(subject.Object, &typed); err != nil {
			lines = append(lines, fmt.Sprintf("  conditions cannot be read: %v", err))
		}
		for _, c := range typed.Status.Conditions {
			lines = append(lines, fmt.Sprintf("  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	return lines
}

func (env *Env) events(ctx context.Context) []string {
	var events eventsv1.EventList
	if err := env.Client.List(ctx, &events, client.InNamespace(env.Namespace)); err != nil {
		return []string{fmt.Sprintf("Events cannot be listed: %v", err)}
	}
	record.SortEvents(events.Items)
	var lines []string
	for _, event := range events.Items[max(0, len(events.Items)-recentEvents):] {
		lines = append(lines, fmt.Sprintf("Event %s ago: %s %s %s: %s", time.Since(record.EventTime(event)).Round(time.Second/10),
			event.Regarding.Kind, event.Regarding.Name, event.Reason, event.Note))
	}
	return lines
}
