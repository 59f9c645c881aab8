package project

import (
	"strings"
	"testing"
)

func TestOnlyNamespacesAreReplaced(t *testing.T) {
	for _, test := range []struct{ before, want string }{
		{"--namespace=mini-system", "--namespace=run-1"},
		{"-n mini-system", "-n run-1"},
		{"-n=mini-system", "-n=run-1"},
		{"watch mini-system", "watch run-1"},
		{"--where=mini-system", "--where=run-1"},
		{"--leader-election-namespace mini-system --id mini-system", "--leader-election-namespace run-1 --id mini-system"},
		{"--other-namespaces=a,mini-system,mini-system-2", "--other-namespaces=a,run-1,mini-system-2"},
		{"--watch-namespace=tenant-a --namespace default --watch-namespaces=a,mini-system",
			"--watch-namespace=run-1 --namespace run-1 --watch-namespaces=run-1"},
		{"--watch-namespace= --watch-namespace=*", "--watch-namespace= --watch-namespace=*"},
		{"--watchNamespace=mini-system --watch-ns=mini-system", "--watchNamespace=run-1 --watch-ns=run-1"},
		{"--secret=mini-system/credentials", "--secret=run-1/credentials"},
		{"--url=https://hook.mini-system.svc.cluster.local:8443/a", "--url=https://hook.run-1.svc.cluster.local:8443/a"},
		{"--url=https://hook.mini-system/mini-system", "--url=https://hook.run-1/mini-system"},
		{"--redis=redis.mini-system:6379,redis-2.mini-system:6379", "--redis=redis.run-1:6379,redis-2.run-1:6379"},
		{"--host hook.mini-system.svc", "--host hook.run-1.svc"},
		{"--host=mini-system.mini-system", "--host=mini-system.run-1"},
		{"--peer=etcd-0.etcd.mini-system.svc:2380", "--peer=etcd-0.etcd.run-1.svc:2380"},
		{"--db=postgres://me:pw@db.mini-system.svc:5432/x?sslmode=disable", "--db=postgres://me:pw@db.run-1.svc:5432/x?sslmode=disable"},
		{"--user=system:serviceaccount:mini-system:manager", "--user=system:serviceaccount:run-1:manager"},
		{"--selector=app=x,namespace=mini-system", "--selector=app=x,namespace=run-1"},
		{"--selector=metadata.namespace==mini-system", "--selector=metadata.namespace==run-1"},
		{"--leader-elect-ns=mini-system", "--leader-elect-ns=run-1"},
		{"--agent=dns:///agent.mini-system.svc:50051", "--agent=dns:///agent.run-1.svc:50051"},
		{"--agent=svc.mini-system.svc.cluster.local:443/path", "--agent=svc.run-1.svc.cluster.local:443/path"},
		{"--agent=https://svc.mini-system.svc.cluster.local.:443/mini-system?ns=mini-system", "--agent=https://svc.run-1.svc.cluster.local.:443/mini-system?ns=mini-system"},
		{"--names=a.mini-system.svc,a.mini-system.svc.cluster.local", "--names=a.run-1.svc,a.run-1.svc.cluster.local"},

		{"--dns=mini-system.svc.cluster.local --dns=.mini-system.svc", "--dns=run-1.svc.cluster.local --dns=.run-1.svc"},
		{"--namespaces=other;mini-system --namespaces=other:mini-system", "--namespaces=other;run-1 --namespaces=other:run-1"},

		{"--config=/etc/mini-system/config.yaml", "--config=/etc/mini-system/config.yaml"},
		{"--config=mini-system/config.yaml", "--config=mini-system/config.yaml"},
		{"--data-dir=mini-system/data --data-dir=mini-system", "--data-dir=mini-system/data --data-dir=mini-system"},
		{"/etc/mini-system file:///etc/mini-system", "/etc/mini-system file:///etc/mini-system"},
		{"--image=registry.example.com/mini-system/app:1", "--image=registry.example.com/mini-system/app:1"},
		{"--image registry.mini-system:5000/app", "--image registry.mini-system:5000/app"},
		{"--agent=mini-system/agent:1.2", "--agent=mini-system/agent:1.2"},
		{"--url=https://mini-system.example.com/", "--url=https://mini-system.example.com/"},
		{"--group=mini-system.example.com", "--group=mini-system.example.com"},
		{"--service-name=mini-system --lease-id mini-system", "--service-name=mini-system --lease-id mini-system"},
		{"--word=my-mini-system --word=mini-system-2 --word=mini-system.", "--word=my-mini-system --word=mini-system-2 --word=mini-system."},
		{"--mini-system --mini-system=yes", "--mini-system --mini-system=yes"},
		{"--exclude-namespaces=a,mini-system --ignored-namespaces mini-system", "--exclude-namespaces=a,mini-system --ignored-namespaces mini-system"},
	} {
		m := &Manager{workload: workload{namespace: "mini-system"}}
		if got := strings.Join(m.argumentsIn(strings.Fields(test.before), nil, "run-1"), " "); got != test.want {
			t.Errorf("%s: got %s, want %s", test.before, got, test.want)
		}
	}
}

func TestNamespaceInVariableIsReplaced(t *testing.T) {
	for _, test := range []struct{ name, before, want string }{
		{"WATCH_NAMESPACE", "other,mini-system", "run-1"},
		{"WATCH_NAMESPACE", "default", "run-1"},
		{"POD_NAMESPACE", "mini-system", "run-1"},
		{"WHERE", "mini-system", "run-1"},
		{"OPTIONS", `{"namespace": "mini-system", "file": "/mini-system"}`, `{"namespace": "run-1", "file": "/mini-system"}`},
		{"OPTIONS", `{"leaderElection":{"resourceNamespace":"mini-system"},"namespaces":["mini-system"],"image":"mini-system"}`, `{"leaderElection":{"resourceNamespace":"run-1"},"namespaces":["run-1"],"image":"mini-system"}`},
		{"OPTIONS", "dir: /etc/mini-system\nnamespace: mini-system\nname: mini-system\n", "dir: /etc/mini-system\nnamespace: run-1\nname: mini-system\n"},
		{"OPTIONS", "namespaces:\n- mini-system\n", "namespaces:\n- run-1\n"},
		{"OPTIONS", "namespaces:\n- other\n- mini-system\nname: mini-system\n", "namespaces:\n- other\n- run-1\nname: mini-system\n"},
		{"OPTIONS", `{"namespaces": ["other", "mini-system"], "names": ["a", "mini-system"]}`, `{"namespaces": ["other", "run-1"], "names": ["a", "mini-system"]}`},
		{"OPTIONS", `{"namespace":"other","mini-system":true}`, `{"namespace":"other","mini-system":true}`},
		{"LABELS", "namespace=other,mini-system=1", "namespace=other,mini-system=1"},
		{"OPTIONS", "exec /manager --namespace mini-system --level mini-system", "exec /manager --namespace run-1 --level mini-system"},
		{"OPTIONS", "--prefix=namespace-mini-system", "--prefix=namespace-mini-system"},
		{"WATCH_NAMESPACES", `["other", "mini-system"]`, `["other", "run-1"]`},
		{"DSN", "host=db.mini-system.svc port=5432", "host=db.run-1.svc port=5432"},
		{"OPERATOR_NAME", "mini-system", "mini-system"},
		{"RELATED_IMAGE_AGENT", "registry.mini-system.svc/agent", "registry.mini-system.svc/agent"},
		{"CONFIG_PATH", "mini-system", "mini-system"},
		{"OPTIONS", `{"excludedNamespaces": ["a", "mini-system"], "namespaces": ["a", "mini-system"]}`, `{"excludedNamespaces": ["a", "mini-system"], "namespaces": ["a", "run-1"]}`},
		{"OPTIONS", `{"namespaces": ["ignored", "mini-system"]}`, `{"namespaces": ["ignored", "run-1"]}`},
		{"EXCLUDED_NAMESPACE", "mini-system", "mini-system"},
		{"EXEMPT_USERS", "system:serviceaccount:mini-system:manager", "system:serviceaccount:run-1:manager"},
		{"OPTIONS", "protected-namespaces:\n- mini-system\nnamespaces:\n- mini-system\n", "protected-namespaces:\n- mini-system\nnamespaces:\n- run-1\n"},
	} {
		if got := inNamespace(test.name, test.before, "mini-system", "run-1"); got != test.want {
			t.Errorf("%s=%s: got %s, want %s", test.name, test.before, got, test.want)
		}
	}
	// An empty namespace means "default". This word is replaced only in settings that usually contain the operator's
	// namespace.
	for _, was := range []string{"default", ""} {
		for _, test := range []struct{ name, before, want string }{
			{"WATCH_NAMESPACE", "default", "run-1"},
			{"--watch-namespaces", "other, default", "run-1"},
			{"WATCH_NAMESPACE", "", ""},
			{"POD_NAMESPACE", "default", "run-1"},
			{"NAMESPACE", "default", "run-1"},
			{"operatorNamespace", "default", "run-1"},
			{"--namespace", "default", "run-1"},
			{"--leader-election-namespace", "default", "run-1"},
			{"--leader-elect-resource-namespace", "default", "run-1"},
			{"MY_POD_NAMESPACE", "default", "run-1"},
			{"CONTROLLER_NAMESPACE", "default", "run-1"},
			{"WATCH_NAMESPACE_NAME", "default", "run-1"},
			{"--apiserver-namespace", "default", "default"},
			{"--exclude-namespaces", "default,kube-system", "default,kube-system"},
			{"EXCLUDED_NAMESPACES", "kube-system,default", "kube-system,default"},
			{"--mode", "default", "default"},
			{"--server", "https://kubernetes.default.svc", "https://kubernetes.default.svc"},
		} {
			if got := inNamespace(test.name, test.before, was, "run-1"); got != test.want {
				t.Errorf("%s=%s in the namespace default: got %s, want %s", test.name, test.before, got, test.want)
			}
		}
	}
}
