package project

import (
	"slices"
	"strings"
	"testing"
)

const ownPodManifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: system}
spec:
  template:
    metadata: {labels: {app: mine}}
    spec:
      serviceAccountName: account
      priorityClassName: of-a-cluster
      containers:
      - name: manager
        image: manager:v1
        env: [{name: POD, valueFrom: {fieldRef: {fieldPath: FIELD}}}]
        volumeMounts: [{name: info, mountPath: /info}]
      volumes: [{name: info, projected: {sources: [{downwardAPI: {items: [{path: about, fieldRef: {fieldPath: FILE}}]}}]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: manager, namespace: system}
rules: [{apiGroups: [GROUP], resources: [RESOURCE], verbs: [VERB]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: manager, namespace: system}
roleRef: {kind: Role, name: manager}
subjects: [{kind: ServiceAccount, name: account}]
`

func readOwnPod(t *testing.T, field, file, group, resource, verb string) *Manager {
	t.Helper()
	text := strings.NewReplacer("FIELD", field, "FILE", file, "GROUP", group, "RESOURCE", resource, "VERB", verb).Replace(ownPodManifest)
	install := installOf(t, text, "")
	return install.Manager
}

func TestManagerThatReadsPodsWantsPod(t *testing.T) {
	const name, uid = "metadata.name", "metadata.uid"
	for _, test := range []struct {
		field, file, group, resource, verb string
		wants                              bool
	}{
		{name, name, `""`, "pods", "get", true},
		{name, name, `"*"`, `"*"`, `"*"`, true},
		{name, name, `""`, "pods", "create", false},
		{name, name, `""`, "configmaps", "get", false},
		{name, name, "metrics.k8s.io", "pods", "get", false},
		{uid, name, `""`, "configmaps", "get", true},
		{name, uid, `""`, "configmaps", "get", true},
	} {
		if got := readOwnPod(t, test.field, test.file, test.group, test.resource, test.verb).WantsPod(); got != test.wants {
			t.Errorf("%+v: %t", test, got)
		}
	}
}

func TestManagerHasPod(t *testing.T) {
	manager := readOwnPod(t, "metadata.name", "metadata.uid", `""`, "pods", "get")
	account, own := manager.Pod("run-1")
	c := manager.In("1234").Container("/bin/manager", "run-1")
	if c.Hostname != own.Name || !slices.Equal(c.Env, []string{"POD=" + own.Name}) || string(c.Mounts["/info"]["about"]) != "1234" {
		t.Errorf("got hostname %s, variables %q and files %q in Pod %s", c.Hostname, c.Env, c.Mounts["/info"], own.Name)
	}
	if account.Name != "account" || account.Namespace != "run-1" || own.Spec.ServiceAccountName != "account" || own.Namespace != "run-1" {
		t.Errorf("got a Pod of %s/%s with ServiceAccount %s/%s", own.Namespace, own.Spec.ServiceAccountName, account.Namespace, account.Name)
	}
	if own.Labels["app"] != "mine" || own.Spec.Containers[0].Image != "manager:v1" || own.Spec.PriorityClassName != "" {
		t.Errorf("got Pod %+v", own)
	}
	if template := manager.workload.template; len(template.Labels) != 1 || template.Spec.NodeName != "" {
		t.Errorf("got template %+v, want it unchanged", template)
	}
	manager.workload.template.Spec.Hostname = "named"
	if got := manager.Container("/bin/manager", "run-1").Hostname; got != "named" {
		t.Errorf("got hostname %s, want named", got)
	}
}
