package scenario_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/operator-assay/assay/harness/scenario"
)

// This scenario tests an operator that copies a ConfigMap. It consists of an action and a state that the operator must
// reach.
func ExampleScenario_Run() {
	configMap := func(env *scenario.Env, name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace, Name: name}}
	}
	create := scenario.Step{Name: "CreateConfigMap", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		env.Detailf("settings")
		return env.Client.Create(ctx, configMap(env, "settings"))
	}}
	copied := scenario.Step{Name: "ConfigMapIsCopied", Run: func(ctx context.Context, env *scenario.Env) error {
		return env.WaitFor(ctx, func(ctx context.Context) error {
			copied := configMap(env, "settings-copy")
			err := env.Client.Get(ctx, client.ObjectKeyFromObject(copied), copied)
			env.Detailf("%s", copied.Name)
			return err
		})
	}}
	s := scenario.Scenario{
		Name:    "copier/create",
		Subject: corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		Steps:   []scenario.Step{create, copied},
	}

	env := &scenario.Env{Client: fake.NewFakeClient(), Namespace: "run", StepTimeout: time.Minute}
	if err := env.Client.Create(context.Background(), configMap(env, "settings-copy")); err != nil { // done by the operator in a real test
		fmt.Println(err)
	}
	err := s.Run(context.Background(), env, func(result scenario.StepResult) {
		fmt.Println(result.Step, result.Detail)
	})
	fmt.Println(err)
	// Output:
	// CreateConfigMap settings
	// ConfigMapIsCopied settings-copy
	// <nil>
}
