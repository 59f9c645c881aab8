package project

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

const deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME, namespace: SPACE}, spec: {template: {spec: {containers: [{name: c}]}}}}\n---\n"

// deployments returns Deployment manifests. A name can be prefixed with a namespace and a slash.
func deployments(of ...string) string {
	var all strings.Builder
	for _, name := range of {
		space, name, found := strings.Cut(name, "/")
		if !found {
			space, name = "my-system", space
		}
		all.WriteString(strings.NewReplacer("NAME", name, "SPACE", space).Replace(deployment))
	}
	return all.String()
}

func hook(name, points string) string {
	return strings.Replace(deployments(name), "{name: "+name, "{annotations: {helm.sh/hook: '"+points+"'}, name: "+name, 1)
}

func TestOperatorDeploymentIsChosen(t *testing.T) {
	for name, test := range map[string]struct {
		text, manager string
		companions    []string
		want, says    string
	}{
		"none":                           {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", "", nil, "", "the manifests contain no Deployment"},
		"OLM bundle":                     {"{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: a}}", "", nil, "", "the manifests are an OLM bundle: with --install, pass the manifests that it was generated from, such as config/default"},
		"two":                            {deployments("one", "other"), "", nil, "", "the manifests contain 2 Deployments (one, other): pass the operator's with --manager"},
		"Helm test":                      {deployments("one") + hook("probe", "test"), "", nil, "one", ""},
		"Helm hook":                      {deployments("one") + hook("setup", "pre-install,pre-upgrade"), "", nil, "one", ""},
		"chosen Helm hook":               {deployments("one") + hook("setup", "post-install"), "setup", nil, "setup", ""},
		"only a Helm hook":               {hook("setup", "post-install"), "", nil, "setup", ""},
		"only a Helm test":               {hook("probe", "test-success"), "", nil, "", "the manifests contain no Deployment"},
		"defined three times":            {deployments("one", "elsewhere/one") + deployments("one") + hook("one", "test"), "", nil, "", "the manifests contain 2 Deployments (one, one)"},
		"one chosen":                     {deployments("one", "other"), "other", nil, "other", ""},
		"one companion":                  {deployments("one", "other"), "", []string{"one"}, "other one", ""},
		"both named":                     {deployments("one", "other"), "one", []string{"other"}, "one other", ""},
		"two companions":                 {deployments("one", "other", "third"), "", []string{"third", "one"}, "other third one", ""},
		"one companion of three":         {deployments("one", "other", "third"), "", []string{"one"}, "", "the manifests contain 2 Deployments (other, third): pass the operator's with --manager"},
		"not there":                      {deployments("one", "other"), "third", nil, "", "no Deployment third in the manifests, only one, other"},
		"unknown companion":              {deployments("one", "other"), "one", []string{"third"}, "", "companions: no Deployment third in the manifests, only one, other"},
		"operator as companion":          {deployments("one", "other"), "one", []string{"one"}, "", "companions: Deployment one is the operator itself: remove it from companions"},
		"companion named twice":          {deployments("one", "other"), "one", []string{"other", "other"}, "", "companions: Deployment other is listed twice"},
		"only companions":                {deployments("one", "other"), "", []string{"one", "other"}, "", "companions lists all Deployments in the manifests (one, other): remove the operator's Deployment from it"},
		"companion in another namespace": {deployments("one", "elsewhere/other"), "one", []string{"other"}, "", "companions: Deployment other is in namespace elsewhere, but the operator's Deployment one is in my-system: they must be in the same namespace"},
		"companion without namespace":    {deployments("one", "/other"), "one", []string{"other"}, "one other", ""},
	} {
		t.Run(name, func(t *testing.T) {
			install, err := readInstall(t, test.text, test.manager, test.companions...)
			if err != nil || test.says != "" {
				if test.says == "" || err == nil || !strings.HasPrefix(err.Error(), test.says) {
					t.Errorf("got error %v, want %q", err, test.says)
				}
				return
			}
			var names []string
			for _, manager := range install.Managers() {
				names = append(names, manager.Name())
			}
			expectEqual(t, "managers", names, strings.Fields(test.want)...)
		})
	}
}

func TestOperatorContainerIsChosen(t *testing.T) {
	for _, test := range []struct {
		names        []string
		marked, want string
	}{
		{[]string{"kube-rbac-proxy", "manager"}, "", "manager"},
		{[]string{"kube-rbac-proxy", "operator"}, "", "operator"},
		{[]string{"operator", "sidecar"}, "", "operator"},
		{[]string{"proxy"}, "", "proxy"},
		{[]string{"sidecar", "operator"}, "operator", "operator"},
		{[]string{"sidecar", "manager"}, "none", "manager"},
		{[]string{"sidecar", "my-operator"}, "", "my-operator"},
		{[]string{"sidecar", "operator"}, "", "operator"},
		{[]string{"sidecar", "rator"}, "", "sidecar"},
		{[]string{"my-operator", "sidecar"}, "sidecar", "sidecar"},
		{[]string{"manager", "sidecar"}, "sidecar", "sidecar"},
	} {
		w := workload{name: "my-operator"}
		w.template.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": test.marked}
		for _, name := range test.names {
			w.template.Spec.Containers = append(w.template.Spec.Containers, corev1.Container{Name: name})
		}
		if got := w.manager().Name; got != test.want {
			t.Errorf("%q: got container %s, want %s", test.names, got, test.want)
		}
	}
}

const withCompanion = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: webhook, namespace: my-system}
spec:
  template:
    metadata: {labels: {app: webhook}}
    spec:
      serviceAccountName: webhook
      containers:
      - name: webhook
        args: [--port=9876]
        volumeMounts: [{name: certificates, mountPath: /certs}]
        ports: [{name: hooks, containerPort: 9876}]
      volumes: [{name: certificates, secret: {secretName: made-by-cert-manager}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: of-the-webhook}
rules: [{apiGroups: [""], resources: [namespaces], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: of-the-webhook}
roleRef: {kind: ClusterRole, name: of-the-webhook}
subjects: [{kind: ServiceAccount, name: webhook, namespace: my-system}]
---
{apiVersion: v1, kind: Service, metadata: {name: hooks, namespace: my-system}, spec: {selector: {app: webhook}, ports: [{port: 443, targetPort: hooks}]}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: sets}
webhooks:
- {name: defaults, clientConfig: {service: {name: hooks, namespace: my-system, path: /mutate}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: greeters.example.com}
spec:
  versions: [{name: v1, served: true, storage: true}]
  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: hooks, namespace: my-system, path: /convert}}}}
---
` + manifest

func TestCompanionHasItsOwnRules(t *testing.T) {
	install := installOf(t, withCompanion, "", "webhook")
	companion := install.Companions[0]
	c := companion.Container("/bin/webhook", "run-1")
	expectEqual(t, "arguments", c.Arguments, "--port=9876")
	expectEqual(t, "variables", c.Env)
	if c.Hostname != "webhook-6b7f9c8d5-0" {
		t.Errorf("got hostname %s of the companion", c.Hostname)
	}
	if len(companion.ClusterRules) != 1 || companion.ClusterRules[0].Resources[0] != "namespaces" || len(companion.NamespaceRules) != 0 {
		t.Errorf("got rules %+v and %+v of the companion", companion.ClusterRules, companion.NamespaceRules)
	}
	operators := install.Manager.Container("/bin/manager", "run-1").Mounts["/certs"]["tls.crt"]
	if own := c.Mounts["/certs"]["tls.crt"]; len(own) == 0 || string(own) != string(operators) {
		t.Error("got different certificates for the operator and the companion, want the same")
	}
	for _, manager := range install.Managers() {
		manager.NoteMissing(nil)
	}
	const note = "Secret made-by-cert-manager: "
	if got := strings.Count(strings.Join(install.Notes, "\n"), note); got != 1 {
		t.Errorf("got notes %q, want %q once, although two managers mount it", install.Notes, note)
	}
}

func TestWebhookServiceSelectsManager(t *testing.T) {
	install := installOf(t, withCompanion, "", "webhook")
	var asked []string
	install.Webhooks(func(manager string, port int32, path string) string {
		asked = append(asked, fmt.Sprint(manager, " ", port, path))
		return ""
	}, nil)
	install.ServedCRDs(func(manager string, port int32, path, stored string) string {
		asked = append(asked, fmt.Sprint(manager, " ", port, path, " ", stored))
		return ""
	}, nil)
	expectEqual(t, "webhooks", asked, "webhook 9876/mutate", "webhook 9876/convert v1")

	install = installOf(t, withCompanion, "controller-manager")
	expectEqual(t, "notes", install.Notes[:2],
		"webhook defaults: its Service hooks selects Deployment webhook, which is not listed in companions, so it is not called",
		"conversion webhook of greeters.example.com: its Service hooks selects Deployment webhook, which is not listed in companions, so it is not called")
	if install.HasWebhooks() {
		t.Error("got webhooks, want none without a manager that serves them")
	}
}
