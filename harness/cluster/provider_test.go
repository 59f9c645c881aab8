package cluster

import (
	"os"
	"strings"
	"testing"
)

// docker's output for three cases: a running engine, no engine, and an engine that the user has no permission to use.
const (
	anEngine     = "echo linux amd64 1.41"
	noEngine     = `echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?' >&2; exit 1`
	noPermission = `echo 'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get "http://%2Fvar%2Frun%2Fdocker.sock/v1.50/version": dial unix /var/run/docker.sock: connect: permission denied' >&2; exit 1`
)

func TestChoose(t *testing.T) {
	for name, test := range map[string]struct {
		wanted, docker string
		chosen         Provider
		says           string
	}{
		"engine":                  {"", anEngine, Kind, "because a Docker engine is available"},
		"engine and auto":         {"auto", anEngine, Kind, "because a Docker engine is available"},
		"no engine":               {"auto", noEngine, KWOK, "because cannot connect to a Docker engine: start one, or run `docker version` for details"},
		"kwok with engine":        {"kwok", anEngine, KWOK, "as requested"},
		"existing":                {"existing", noEngine, Existing, "as requested"},
		"kind":                    {"kind", anEngine, Kind, "as requested"},
		"kind without engine":     {"kind", noEngine, "", "set --provider (E2E_PROVIDER) to kwok"},
		"kind without permission": {"kind", noPermission, "", "permission denied on the Docker socket: add this user to the group docker"},
		"unknown provider":        {"minikube", noEngine, "", `--provider (E2E_PROVIDER) "minikube": use auto, kind, kwok or existing`},
	} {
		t.Run(name, func(t *testing.T) {
			fakeDocker(t, test.docker)
			chosen, reason, err := Choose(t.Context(), test.wanted)
			if chosen != test.chosen {
				t.Errorf("got provider %q, want %q", chosen, test.chosen)
			}
			if test.chosen == "" {
				expectRefusal(t, err, test.says)
			} else if err != nil || reason != test.says {
				t.Errorf("got reason %q (error %v), want %q", reason, err, test.says)
			}
		})
	}
}

func TestRemoteEngineIsNotChosen(t *testing.T) {
	fakeDocker(t, anEngine)
	for _, test := range []struct {
		host, wanted string
		chosen       Provider
	}{
		{"tcp://docker:2375", "", KWOK}, {"ssh://build@10.0.0.1", "auto", KWOK}, {"tcp://docker:2375", "kind", Kind},
		{"tcp://localhost:2375", "", Kind}, {"tcp://127.0.0.1:2375", "", Kind}, {"unix:///run/docker.sock", "", Kind},
	} {
		t.Setenv("DOCKER_HOST", test.host)
		chosen, reason, err := Choose(t.Context(), test.wanted)
		if chosen != test.chosen || err != nil || chosen == KWOK && !strings.Contains(reason, test.host) {
			t.Errorf("%s: got provider %q %s, %v, want %q", test.host, chosen, reason, err, test.chosen)
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	own(t)
	if options, err := FromEnvironment(); err != nil || options != (Options{}) {
		t.Errorf("without variables: got %+v (error %v), want empty options", options, err)
	}
	for name, value := range map[string]string{
		"E2E_PROVIDER": "kind", "E2E_CLUSTER": "mine", "E2E_CONTEXT": "theirs", "E2E_NODES": "3",
		"E2E_NODE_IMAGE": "example.com/node:1", "K8S_VERSION": "1.36.4",
	} {
		t.Setenv(name, value)
	}
	want := Options{Provider: Kind, Name: "mine", Context: "theirs", Nodes: 3, NodeImage: "example.com/node:1", KubernetesVersion: "1.36.4"}
	if options, err := FromEnvironment(); err != nil || options != want {
		t.Errorf("got %+v (error %v), want %+v", options, err, want)
	}
	for _, nodes := range []string{"0", "three"} {
		t.Setenv("E2E_NODES", nodes)
		_, err := FromEnvironment()
		expectRefusal(t, err, "E2E_NODES="+nodes, "use a positive number")
	}
}

func TestInvalidOptionsCreateNothing(t *testing.T) {
	for says, options := range map[string]Options{
		`(E2E_PROVIDER) "minikube"`:                 {Provider: "minikube"},
		"(E2E_NODES) -1":                            {Provider: KWOK, Nodes: -1},
		`(E2E_CLUSTER) "../elsewhere"`:              {Provider: KWOK, Name: "../elsewhere"},
		`(E2E_CLUSTER) "UPPER"`:                     {Provider: KWOK, Name: "UPPER"},
		"invalid Kubernetes version \"banana\"":     {Provider: KWOK, KubernetesVersion: "banana"},
		"set --provider (E2E_PROVIDER) to existing": {Provider: KWOK, Context: "production"},
		"does not support AuditPolicy":              {Provider: Existing, Context: "production", AuditPolicy: "{}"},
		"or PodsPerNode: use kwok":                  {Provider: Existing, Context: "production", PodsPerNode: 1},
	} {
		t.Run(says, func(t *testing.T) {
			clusters := own(t)
			_, err := Open(t.Context(), options)
			expectRefusal(t, err, says)
			if _, err := os.Stat(clusters); err == nil {
				t.Error("Open created a folder")
			}
		})
	}
}
