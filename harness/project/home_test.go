package project

import (
	"strings"
	"testing"
)

func TestManagerWatchesOnlyItsOwnNamespace(t *testing.T) {
	const roles = `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ROLE
metadata: {name: mine, namespace: shop-system}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ROLEBinding
metadata: {name: mine, namespace: shop-system}
roleRef: {kind: ROLE, name: mine}
subjects: [{kind: ServiceAccount, name: account, namespace: shop-system}]
`
	deployment := func(namespace, container string) string {
		return `
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller-manager, namespace: ` + namespace + `}
spec: {template: {spec: {serviceAccountName: account, containers: [{name: manager, ` + container + `}]}}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: account, namespace: ` + namespace + `}`
	}
	of := func(kind string) string { return strings.ReplaceAll(roles, "ROLE", kind) }
	const podNamespace = `{name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}`
	for name, test := range map[string]struct {
		container, roles string
		want             bool
	}{
		"cluster-wide permissions":     {`args: [--leader-elect]`, of("ClusterRole"), false},
		"permissions in its namespace": {`args: [--leader-elect]`, of("Role"), true},
		"WATCH_NAMESPACE":              {`env: [{name: WATCH_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}]`, of("ClusterRole"), true},
		"WATCH_NAMESPACES":             {`env: [{name: WATCH_NAMESPACES, value: shop-system}]`, of("ClusterRole"), true},
		"empty WATCH_NAMESPACE":        {`env: [{name: WATCH_NAMESPACE, value: ""}]`, of("ClusterRole"), false},
		"WATCH_NAMESPACE of samples":   {`env: [{name: WATCH_NAMESPACE, value: shop}]`, of("ClusterRole"), true},
		"all namespaces":               {`args: ["--watch-namespace=*"]`, of("ClusterRole"), false},
		"Pod namespace":                {`env: [` + podNamespace + `, {name: NAMESPACE, value: shop-system}]`, of("ClusterRole"), false},
		"flag":                         {`args: ["--namespace=$(POD_NAMESPACE)"], env: [` + podNamespace + `]`, of("ClusterRole"), true},
		"flag in two arguments":        {`command: [/manager, -watch-namespace], args: ["$(POD_NAMESPACE)"], env: [` + podNamespace + `]`, of("ClusterRole"), true},
		"flag with another namespace":  {`args: [--namespace=shop]`, of("ClusterRole"), true},
		"namespace of the lock":        {`args: [--leader-election-namespace=shop-system, shop-system]`, of("ClusterRole"), false},
		"flag without a value":         {`args: [--namespace]`, of("ClusterRole"), false},
	} {
		t.Run(name, func(t *testing.T) {
			install := installOf(t, deployment("shop-system", test.container)+test.roles, "")
			if got := install.Manager.WatchesOnlyItsOwn(); got != test.want {
				t.Errorf("got %t", got)
			}
			if got := install.Manager.Namespace(); got != "shop-system" {
				t.Errorf("got namespace %q, want shop-system", got)
			}
		})
	}
	for namespace, want := range map[string]string{"default": "", `""`: "shop-system"} {
		install := installOf(t, deployment(namespace, "image: x")+of("ClusterRole"), "")
		if got := install.Manager.Namespace(); got != want {
			t.Errorf("got namespace %q, want %q", got, want)
		}
	}
}
