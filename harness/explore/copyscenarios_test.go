package explore

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/scenario"
)

var (
	creation = story("copier/create", write("A"), isCopied("A"))
	change   = story("copier/change", write("A"), isCopied("A"), write("B"), isCopied("B"))
	healing  = story("copier/heal", write("A"), isCopied("A"), deleteCopy, isCopied("A"))
)

func story(name string, steps ...scenario.Step) scenario.Scenario {
	configMap, secret := corev1.SchemeGroupVersion.WithKind("ConfigMap"), corev1.SchemeGroupVersion.WithKind("Secret")
	return scenario.Scenario{Name: name, Subject: configMap, Kinds: append(scenario.Scenario{}.Kinds, configMap, secret), Steps: steps}
}

func write(value string) scenario.Step {
	return scenario.Step{Name: "Write(" + value + ")", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		object := applycorev1.ConfigMap("web", env.Namespace).WithLabels(map[string]string{"copy": "true"}).WithData(map[string]string{"value": value})
		return env.Client.Apply(ctx, object, client.FieldOwner("user"))
	}}
}

var deleteOriginal = scenario.Step{Name: "DeleteOriginal", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
	return env.Client.Delete(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: env.Namespace}})
}}

var deleteCopy = scenario.Step{Name: "DeleteCopy", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
	return env.Client.DeleteAllOf(ctx, &corev1.Secret{}, client.InNamespace(env.Namespace))
}}

func isCopied(value string) scenario.Step {
	return scenario.Step{Name: "IsCopied(" + value + ")", Run: func(ctx context.Context, env *scenario.Env) error {
		return env.WaitFor(ctx, func(ctx context.Context) error {
			var copies corev1.SecretList
			if err := env.Client.List(ctx, &copies, client.InNamespace(env.Namespace)); err != nil {
				return err
			}
			for _, copied := range copies.Items {
				if string(copied.Data["value"]) == value {
					return nil
				}
			}
			return fmt.Errorf("got %d copies, want one with the value %s", len(copies.Items), value)
		})
	}}
}

// isRecorded waits for the last write of thenRecording, because a slow machine may pause between its two writes for longer
// than the operator has to be idle.
var isRecorded = scenario.Step{Name: "IsRecorded", Run: func(ctx context.Context, env *scenario.Env) error {
	return env.WaitFor(ctx, func(ctx context.Context) error {
		var original corev1.ConfigMap
		err := env.Client.Get(ctx, client.ObjectKey{Namespace: env.Namespace, Name: "web"}, &original)
		if err == nil && original.Annotations["copy"] == "" {
			err = fmt.Errorf("got the annotations %v, want copy", original.Annotations)
		}
		return err
	})
}}

var converged = scenario.Step{Name: "Converged", Run: func(ctx context.Context, env *scenario.Env) error { return env.Converge(ctx) }}
