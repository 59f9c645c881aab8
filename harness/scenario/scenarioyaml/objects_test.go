package scenarioyaml_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/record"
)

const web = `
role: [role.yaml]
scenarios:
- name: web/scale-and-delete
  steps:
  - apply: &two
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 2
        selector: &app {matchLabels: {app: web}}
        template: &template
          metadata: {labels: {app: web}}
          spec: {containers: [{name: main, image: "example.com/main:v1"}]}
  - assert:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web, deletionTimestamp: null}
      spec: {template: {spec: {containers: [{image: "example.com/main:v1"}]}}}
      status: {readyReplicas: 2}
  - apply:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web, labels: {scaled: "yes"}}
      spec: {replicas: 3, selector: *app, template: *template}
  - assert: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, uid: <present>}, status: {readyReplicas: 3, observedGeneration: <current>}}
  - apply: *two
  - assert: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, status: {replicas: 2, readyReplicas: 2}}
  - patch: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {paused: true}}
  - assert: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {paused: true, replicas: 2}}
  - apply: *two
  - delete: {apiVersion: apps/v1, kind: Deployment, name: web}
  - error: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {paused: true}}
  - error: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}
  - apply: *two
`

const configMap = `
role: [role.yaml]
scenarios:
- name: map/fails
  steps:
  - apply:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: map, finalizers: [example.com/never], labels: {a: b}}
      data: {greeting: hello, name: world}
`

func TestFailedStepNamesDifference(t *testing.T) {
	needControlPlane(t)
	// The subtests share one history, because starting watches for each of them could exceed the step timeout.
	history, err := record.NewHistory(t.Context(), plane.Client, "", corev1.SchemeGroupVersion.WithKind("ConfigMap"), corev1.SchemeGroupVersion.WithKind("Secret"))
	noError(t, err)
	for name, failing := range map[string]struct{ steps, complaint string }{
		"field": {"  - assert: {apiVersion: v1, kind: ConfigMap, metadata: {name: map}, data: {greeting: bye, name: world}}\n",
			"ConfigMap map: data.greeting: want bye, got hello\n"},
		"fields": {"  - assert: {apiVersion: v1, kind: ConfigMap, metadata: {name: map, labels: null}, immutable: true, data: {name: {}}}\n",
			`ConfigMap map: data.name: want {}, got world; immutable: want true, got nothing; metadata.labels: want nothing, got {"a":"b"}` + "\n"},
		"length of a list": {"  - assert: {apiVersion: v1, kind: ConfigMap, metadata: {name: map, finalizers: [a, b]}}\n",
			`ConfigMap map: metadata.finalizers: want ["a","b"], got ["example.com/never"]`},
		"present": {"  - assert: {apiVersion: v1, kind: ConfigMap, metadata: {name: map}, immutable: <present>}\n",
			"ConfigMap map: immutable: want <present>, got nothing\n"},
		"current": {"  - assert: {apiVersion: v1, kind: ConfigMap, metadata: {name: map}, data: {greeting: <current>}}\n",
			"ConfigMap map: data.greeting: want <current> (0), got hello\n"},
		"element of a list": {"  - assert: {apiVersion: v1, kind: ConfigMap, metadata: {name: map, finalizers: [a]}}\n",
			"ConfigMap map: metadata.finalizers[0]: want a, got example.com/never\n"},
		"missing object": {"  - assert: {apiVersion: v1, kind: Secret, metadata: {name: map}}\n",
			"Secret map does not exist\n"},
		"object with finalizer": {"  - delete: {apiVersion: v1, kind: ConfigMap, name: map}\n  - error: {apiVersion: v1, kind: ConfigMap, metadata: {name: map}}\n",
			"ConfigMap map still exists: it is being deleted and has finalizers [example.com/never]\n"},
		"unwanted object": {"  - error: {apiVersion: v1, kind: ConfigMap, metadata: {name: map}}\n",
			"ConfigMap map still exists\n"},
		"unwanted fields": {"  - error: {apiVersion: v1, kind: ConfigMap, metadata: {name: map, labels: {a: b}, deletionTimestamp: null}, data: {greeting: hello, name: <present>}}\n",
			"ConfigMap map still exists\n"},
		"failed script": {"  - script: {content: \"echo $GREETING; exit 3\", env: [{name: GREETING, value: good morning}]}\n",
			"map/fails: Script(echo $GREETING; exit 3): exit status 3\ngood morning"},
		"script timeout": {"  - script: {content: \"sleep 60\\n\\ntrue\", timeout: 50ms}\n",
			"Script(sleep 60 …): the script did not end within 50ms"},
		"delete without object": {"  - delete: {apiVersion: v1, kind: Secret, name: map}\n",
			`secrets "map" not found`},
		"unknown kind": {"  - assert: {apiVersion: example.com/v1, kind: Nothing, metadata: {name: map}}\n",
			`no matches for kind "Nothing" in version "example.com/v1"`},
		"unknown field": {"  - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: map}, date: {}}\n",
			`.date: field not declared in schema`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			catalogue := load(t, write(t, configMap+failing.steps))
			env := newEnv(t, 100*time.Millisecond)
			if slices.Contains([]string{"failed script", "delete without object", "unknown kind", "unknown field"}, name) {
				env.StepTimeout = 30 * time.Second // these steps fail without waiting
			}
			env.History = history
			err := catalogue.Scenarios[0].Run(t.Context(), env, nil)
			if err == nil {
				t.Fatalf("got no error, want %q", failing.complaint)
			}
			t.Log(err)
			if !strings.Contains(err.Error(), failing.complaint) {
				t.Errorf("got error %q, want %q", err, failing.complaint)
			}
		})
	}
}

func TestScenarioRuns(t *testing.T) {
	for name, text := range map[string]string{
		"every action on objects": web,
		"error steps that end when a field differs": configMap + `
  - error: {apiVersion: v1, kind: ConfigMap, metadata: {name: map}, data: {greeting: hello, name: moon}}
  - error: {apiVersion: v1, kind: ConfigMap, metadata: {name: map, deletionTimestamp: <present>}}
  - error: {apiVersion: v1, kind: ConfigMap, metadata: {name: map}, data: {greeting: null}}
  - error: {apiVersion: v1, kind: ConfigMap, metadata: {name: map, finalizers: []}}
  - error: {apiVersion: v1, kind: Secret, metadata: {name: map}, data: {a: b}}
`,
	} {
		t.Run(name, func(t *testing.T) {
			noError(t, load(t, write(t, text)).Scenarios[0].Run(t.Context(), newEnv(t, 30*time.Second), nil))
		})
	}
}

func TestScriptUsesItsEnvironment(t *testing.T) {
	needControlPlane(t)
	assets, err := binaries.Ensure(t.Context(), "", t.Output(), "kubectl")
	noError(t, err)
	catalogue := load(t, write(t, configMap+`
  - script:
      content: |
        set -e
        cat role.yaml
        test "$(`+assets+`/kubectl get configmap map -o jsonpath={.metadata.namespace})" = "$NAMESPACE"
        `+assets+`/kubectl patch configmap map -p '{"data":{"greeting":"'"$GREETING"'"}}'
      env: [{name: GREETING, value: good morning}]
  - assert: {apiVersion: v1, kind: ConfigMap, metadata: {name: map}, data: {greeting: good morning}}
`))
	if step := catalogue.Scenarios[0].Steps[1]; step.Name != "Script(set -e …)" || !step.IsAction {
		t.Errorf("got step %q (action: %t), want the action Script(set -e …)", step.Name, step.IsAction)
	}
	noError(t, catalogue.Scenarios[0].Run(t.Context(), newEnv(t, 30*time.Second), nil))
}

// TestStepWatchesKindsOutsideHistory creates a ClusterRole right after the step has first checked for it. The history
// does not watch ClusterRoles.
func TestStepWatchesKindsOutsideHistory(t *testing.T) {
	needControlPlane(t)
	history, err := record.NewHistory(t.Context(), plane.Client, "", corev1.SchemeGroupVersion.WithKind("ConfigMap"), corev1.SchemeGroupVersion.WithKind("Secret"))
	noError(t, err)
	env := newEnv(t, 30*time.Second)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: env.Namespace}}
	create := sync.OnceValue(func() error { return plane.Client.Create(t.Context(), role) })
	env.History = history
	env.Client = interceptor.NewClient(plane.Client, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			found := c.Get(ctx, key, object, options...)
			if key.Name != role.Name {
				return found
			}
			return cmp.Or(create(), found)
		},
	})
	catalogue := load(t, write(t, configMap+"  - assert: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: "+role.Name+"}}\n"))
	start := time.Now()
	noError(t, catalogue.Scenarios[0].Run(t.Context(), env, nil))
	if took := time.Since(start); took >= env.StepTimeout {
		t.Errorf("the step took %s, want less than %s", took, env.StepTimeout)
	}
}

func TestApplyForcesConflicts(t *testing.T) {
	catalogue := load(t, write(t, configMap+"  - assert: {apiVersion: v1, kind: ConfigMap, metadata: {name: map}, data: {greeting: hello}}\n"))
	env := newEnv(t, 30*time.Second)
	others := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace, Name: "map"}, Data: map[string]string{"greeting": "bye"}}
	noError(t, plane.Client.Create(t.Context(), others))
	noError(t, catalogue.Scenarios[0].Run(t.Context(), env, nil))
	noError(t, plane.Client.Get(t.Context(), client.ObjectKeyFromObject(others), others))
	owned := slices.ContainsFunc(others.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == "assay-user" && entry.Operation == metav1.ManagedFieldsOperationApply
	})
	if !owned {
		t.Errorf("got managed fields %v, want an Apply by assay-user", others.ManagedFields)
	}
}
