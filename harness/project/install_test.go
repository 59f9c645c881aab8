package project

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-assay/assay/harness/pod"
)

const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller-manager, namespace: my-system}
spec:
  template:
    metadata: {labels: {app: mine}}
    spec:
      serviceAccountName: account
      containers:
      - {name: proxy, image: proxy, resources: {limits: {cpu: 4}}}
      - name: manager
        command: [/manager, --first]
        args: [--leader-elect, --leader-election-namespace=my-system, "--name=$(POD_NAME)", --my-systematic]
        env:
        - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        - {name: APP, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}
        - {name: LEVEL, valueFrom: {configMapKeyRef: {name: settings, key: level}}}
        - {name: PASSWORD, valueFrom: {secretKeyRef: {name: password, key: text}}}
        - {name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
        - {name: MILLICPUS, valueFrom: {resourceFieldRef: {resource: requests.cpu, divisor: 1m}}}
        - {name: GOMEMLIMIT, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}
        - {name: TOKEN, valueFrom: {secretKeyRef: {name: made-by-hand, key: token}}}
        - {name: OPTIONAL, valueFrom: {secretKeyRef: {name: made-by-hand, key: token, optional: true}}}
        - {name: OPTIONAL_FILE, valueFrom: {fileKeyRef: {volumeName: scratch, path: env, key: a, optional: true}}}
        - {name: SET_IN_FILE, valueFrom: {configMapKeyRef: {name: made-by-hand, key: token}}}
        envFrom: [{prefix: SET_, configMapRef: {name: settings}}, {secretRef: {name: made-by-hand}}, {secretRef: {name: made-by-nobody, optional: true}}, {configMapRef: {name: made-by-hand}}, {configMapRef: {name: made-by-nobody, optional: true}}]
        resources: {limits: {cpu: 1500m}}
        volumeMounts:
        - {name: settings, mountPath: /etc/settings}
        - {name: settings, mountPath: /etc/other/file.yaml, subPath: level}
        - {name: scratch, mountPath: /var/work, subPath: work}
        - {name: nested, mountPath: /etc/nested, subPath: in/it}
        - {name: certificates, mountPath: /certs}
        - {name: scratch, mountPath: /scratch}
        - {name: scratch, mountPath: /etc/hosts}
        - {name: host, mountPath: /etc/passwd}
        - {name: host, mountPath: /dev/null}
        - {name: host, mountPath: /usr}
        - {name: about, mountPath: /about}
        - {name: projected, mountPath: /projected}
        - {name: absent, mountPath: /absent}
        - {name: optional, mountPath: /optional}
      - {name: sidecar}
      initContainers: [{name: prepare}]
      volumes:
      - {name: projected, projected: {sources: [{configMap: {name: kube-root-ca.crt}}, {secret: {name: issued}}, {configMap: {name: settings}}]}}
      - {name: absent, configMap: {name: created-by-hand}}
      - {name: optional, configMap: {name: created-by-nobody, optional: true}}
      - {name: settings, configMap: {name: settings}}
      - {name: nested, configMap: {name: settings, items: [{key: level, path: in/it/level}]}}
      - {name: certificates, secret: {secretName: made-by-cert-manager}}
      - {name: scratch, emptyDir: {}}
      - {name: host, hostPath: {path: /etc/localtime}}
      - {name: about, downwardAPI: {items: [{path: cpus, resourceFieldRef: {containerName: proxy, resource: limits.cpu, divisor: "1"}}]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: my-system}, data: {level: high}}
---
{apiVersion: v1, kind: Secret, metadata: {name: password, namespace: my-system}, stringData: {text: a$$b$(APP)}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: unrelated, namespace: elsewhere}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: everywhere}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {gathered: "true"}}]}
rules: [{apiGroups: [""], resources: [services], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: gathered, labels: {gathered: "true"}}
rules: [{apiGroups: [""], resources: [nodes, pods], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: of-users}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: everywhere}
roleRef: {kind: ClusterRole, name: everywhere}
subjects: [{kind: ServiceAccount, name: account, namespace: my-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: leader, namespace: my-system}
rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: leader, namespace: my-system}
roleRef: {kind: Role, name: leader}
subjects: [{kind: ServiceAccount, name: account}]
`

func readInstall(t *testing.T, text, manager string, companions ...string) (*Install, error) {
	t.Helper()
	rendered, err := Render(filepath.Join(write(t, map[string]string{"install.yaml": text}), "install.yaml"))
	noError(t, err)
	return ReadInstall(rendered, manager, companions...)
}

func installOf(t *testing.T, text, manager string, companions ...string) *Install {
	t.Helper()
	install, err := readInstall(t, text, manager, companions...)
	noError(t, err)
	return install
}

func TestContainerIsReadFromManifests(t *testing.T) {
	install := installOf(t, manifest, "")
	c := install.Manager.Container("/bin/manager", "run-1")
	expectEqual(t, "arguments", c.Arguments, "--first", "--leader-elect", "--leader-election-namespace=run-1", "--name=controller-manager-6b7f9c8d5-0", "--my-systematic")
	expectEqual(t, "variables", c.Env, "APP=mine", "CPUS=2", "GOMEMLIMIT=1024", "LEVEL=high", "MILLICPUS=1500", "PASSWORD=a$$b$(APP)", "POD_NAME=controller-manager-6b7f9c8d5-0", "POD_NAMESPACE=run-1", "SET_level=high")
	if c.Path != "/bin/manager" || c.Namespace != "run-1" || c.Kubeconfig {
		t.Errorf("%+v", c)
	}
	for folder, want := range map[string]pod.Files{"/etc/settings": {"level": []byte("high")}, "/etc/nested": {"level": []byte("high")}, "/scratch": nil, "/var/work": nil, "/etc/hosts": nil, "/usr": nil, "/about": {"cpus": []byte("4")}} {
		got, mounted := c.Mounts[folder]
		if !mounted || len(got) != len(want) {
			t.Errorf("%s: got files %v, want %v", folder, got, want)
		}
		for name, content := range want {
			if string(got[name]) != string(content) {
				t.Errorf("%s/%s: got %q, want %q", folder, name, got[name], want[name])
			}
		}
	}
	for _, file := range []string{"/etc/passwd", "/dev/null"} {
		if _, mounted := c.Mounts[file]; mounted {
			t.Errorf("%s: got a mount, want the file of this machine", file)
		}
	}
	if len(c.Files) != 1 || string(c.Files["/etc/other/file.yaml"]) != "high" {
		t.Errorf("got files %q", c.Files)
	}
	if !strings.HasPrefix(string(c.Mounts["/certs"]["tls.crt"]), "-----BEGIN CERTIFICATE") {
		t.Errorf("got %v in /certs, want a certificate", c.Mounts["/certs"])
	}
	made := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "made-by-cert-manager"}, Data: map[string][]byte{"tls.crt": []byte("new")}}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"level": "low"}}
	changed := install.Manager.With([]*corev1.Secret{made}, []*corev1.ConfigMap{settings}).Container("/bin/manager", "run-1")
	if string(changed.Mounts["/certs"]["tls.crt"]) != "new" || string(changed.Mounts["/etc/settings"]["level"]) != "low" {
		t.Errorf("got mounts %q after a change, want the new objects", changed.Mounts)
	}
	install.Manager.NoteMissing(map[string]string{"SET_IN_FILE": "a"})
	expectEqual(t, "notes", install.Notes,
		"controller-manager: variable TOKEN has no value in the manifests: set it with env in assay.yaml",
		"controller-manager: Secret made-by-hand is not in the manifests: set its variables with env in assay.yaml",
		"controller-manager: ConfigMap made-by-hand is not in the manifests: set its variables with env in assay.yaml",
		"controller-manager: container sidecar is not run, only manager: if that is the wrong one, "+
			"name the operator's container in the annotation kubectl.kubernetes.io/default-container of the Pod template",
		"controller-manager: init container prepare is not run: if the operator needs its files, pass other paths with arguments after --, or with env in assay.yaml",
		"Secret issued: not in the manifests, so it contains a certificate that is generated for the run",
		"controller-manager: ConfigMap created-by-hand is not in the manifests, so its files are missing from /absent: add it to the manifests",
		"Secret made-by-cert-manager: not in the manifests, so it contains a certificate that is generated for the run")
}

func TestLastDefinitionOfObjectIsUsed(t *testing.T) {
	const settings = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: mini-system}, data: {level: LEVEL}}\n---\n"
	install := installOf(t, containerOf("args: [--old]")+strings.Replace(settings, "LEVEL", "old", 1)+containerOf("args: [--new]")+strings.Replace(settings, "LEVEL", "new", 1), "")
	expectEqual(t, "arguments", install.Manager.Container("/bin/manager", "run-1").Arguments, "--new")
	if len(install.ConfigMaps) != 1 || install.ConfigMaps[0].Data["level"] != "new" {
		t.Errorf("got ConfigMaps %v, want only the last definition", install.ConfigMaps)
	}
}

func TestSubPathSelectsPartOfVolume(t *testing.T) {
	for mount, want := range map[string]string{
		"subPath: in":            "a=1",
		"subPath: in/":           "a=1",
		"subPathExpr: $(DIR)":    "a=1",
		"subPathExpr: $(DIR)/a":  "file",
		"subPathExpr: $(POD)":    "",
		`subPathExpr: "$$(DIR)"`: "",
		"subPath: absent":        "",
		"readOnly: true":         "in/a=1 top=2",
	} {
		install := installOf(t, containerOf("env: [{name: DIR, value: in}, {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}], volumeMounts: [{name: settings, mountPath: /m, "+mount+"}]}], volumes: [{name: settings, configMap: {name: settings, items: [{key: a, path: in/a}, {key: top, path: top}]}")+
			"---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: mini-system}, data: {a: '1', top: '2'}}\n", "")
		c := install.Manager.Container("/bin/manager", "run-1")
		var got []string
		for name, content := range c.Mounts["/m"] {
			got = append(got, name+"="+string(content))
		}
		if string(c.Files["/m"]) == "1" {
			got = append(got, "file")
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", mount, got, want)
		}
	}
}

func TestRelativePathOfMountedFileIsResolved(t *testing.T) {
	for container, want := range map[string]string{
		"args: [--config=config.yaml]":                      "--config=/config.yaml",
		"args: [--config, config.yaml]":                     "--config /config.yaml",
		"args: [--level=./settings/level, settings]":        "--level=/settings/level settings",
		"args: [--level=level], workingDir: /settings":      "--level=/settings/level",
		"args: [--level=/level], workingDir: /settings":     "--level=/level",
		"args: [--level=install.go, --config=/config.yaml]": "--level=install.go --config=/config.yaml", // install.go is in this folder
	} {
		const mounts = ", volumeMounts: [{name: c, mountPath: /config.yaml, subPath: level}, {name: c, mountPath: /install.go, subPath: level}, {name: c, mountPath: /settings}]}], volumes: [{name: c, configMap: {name: c}"
		install := installOf(t, containerOf(container+mounts)+"---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: mini-system}, data: {level: '1'}}\n", "")
		expectEqual(t, container, install.Manager.Container("/bin/manager", "run-1").Arguments, strings.Fields(want)...)
	}
}

func TestNamespaceInConfigurationIsReplaced(t *testing.T) {
	install := installOf(t, containerOf("image: a")+`---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: mini-system, labels: {a: b}}
data:
  operatorNamespace: mini-system
  namespace: |
    mini-system
  title: |
    mini-system
  config_file: |
    leaderElection: {resourceNamespace: mini-system, resourceName: mini-system}
    webhook: https://hook.mini-system.svc
    directory: /etc/mini-system
binaryData: {binary: bWluaS1zeXN0ZW0=}
---
{apiVersion: v1, kind: Secret, metadata: {name: password, namespace: mini-system}, type: a/b, stringData: {url: "postgres://db.mini-system.svc", password: mini-system}}
`, "")
	var got []string
	for _, object := range install.Objects("run-1") {
		text, err := json.Marshal(object)
		noError(t, err)
		got = append(got, string(text))
	}
	expectEqual(t, "objects", got,
		`{"metadata":{"name":"settings","namespace":"run-1","labels":{"a":"b"}},"data":{"config_file":"leaderElection: {resourceNamespace: run-1, resourceName: mini-system}\nwebhook: https://hook.run-1.svc\ndirectory: /etc/mini-system\n","namespace":"run-1\n","operatorNamespace":"run-1","title":"mini-system\n"},"binaryData":{"binary":"bWluaS1zeXN0ZW0="}}`,
		`{"metadata":{"name":"password","namespace":"run-1"},"data":{"password":"bWluaS1zeXN0ZW0=","url":"cG9zdGdyZXM6Ly9kYi5ydW4tMS5zdmM="},"type":"a/b"}`)
}

// The manifests of Cluster API providers contain variables that clusterctl replaces.
func TestSecretWithVariables(t *testing.T) {
	install := installOf(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: credentials}\ndata: {a: '${A_B64}', b: '${B_B64:=Yg==}', c: Yw==, d: '${D_B64:=\"\"}'}\n---\n"+deployments("one"), "")
	if got := install.Secrets[0].Data; len(got) != 3 || string(got["b"]) != "b" || string(got["c"]) != "c" {
		t.Errorf("got %q, want b, c and an empty d", got)
	}
}

func TestOldVersions(t *testing.T) {
	old := strings.Replace(greeterCRD, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", 1)
	_, err := readInstall(t, old, "")
	if want := "CustomResourceDefinition greeters.example.com: Kubernetes 1.22 and later do not serve apiextensions.k8s.io/v1beta1: convert it to apiextensions.k8s.io/v1, for example with controller-gen"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	install, err := readInstall(t, strings.Replace(deployments("one"), "apps/v1", "extensions/v1beta1", 1), "")
	if err != nil || install.Manager.Name() != "one" {
		t.Errorf("got %v, want the Deployment one", err)
	}
}

func TestResourcesAreConvertedToNumbers(t *testing.T) {
	for _, test := range []struct{ resources, field, divisor, want string }{
		{"limits: {cpu: 1001m}", "limits.cpu", "1m", "1001"},
		{"limits: {cpu: 1001m}", "limits.cpu", "", "2"},
		{"limits: {memory: 1500Mi}", "limits.memory", "1Gi", "2"},
		{"limits: {cpu: 1001m}", "requests.cpu", "1m", "1001"},
		{"limits: {cpu: 2}, requests: {cpu: 1}", "requests.cpu", "", "1"},
		{"limits: {}", "requests.cpu", "1m", "0"},
		{"limits: {}", "requests.memory", "", "0"},
		{"limits: {}", "limits.cpu", "", "1"},
		{"limits: {}", "limits.memory", "1Mi", "1024"},
		{"limits: {}", "limits.ephemeral-storage", "1Gi", "10"},
	} {
		divisor := ""
		if test.divisor != "" {
			divisor = ", divisor: " + test.divisor
		}
		install := installOf(t, containerOf("resources: {"+test.resources+"}, env: [{name: A, valueFrom: {resourceFieldRef: {resource: "+test.field+divisor+"}}}]"), "")
		expectEqual(t, test.field+" of "+test.resources, install.Manager.Container("/bin/manager", "run-1").Env, "A="+test.want)
	}
}

func expectEqual(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestCustomResourcesAreInstalled(t *testing.T) {
	install := installOf(t, manifest+`
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: settings.example.com}
spec: {group: example.com, scope: Cluster, names: {kind: Settings, plural: settings}}
---
{apiVersion: example.com/v1, kind: Settings, metadata: {name: default}, spec: {level: high}}
---
{apiVersion: example.com/v1, kind: Settings, metadata: {name: default, namespace: elsewhere}}
---
{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: serving}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: of-children, namespace: my-system}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PriorityClass, metadata: {name: of-children}}
---
{apiVersion: rbac.authorization.k8s.io/v1beta1, kind: ClusterRole, metadata: {name: old}}
---
{apiVersion: authorization.openshift.io/v1, kind: ClusterRole, metadata: {name: of-openshift}}
`, "")
	var got []string
	for _, resource := range install.Resources {
		got = append(got, resource.GetAPIVersion()+" "+resource.GetKind()+" "+resource.GetName())
	}
	const rbac = "rbac.authorization.k8s.io/v1 "
	expectEqual(t, "resources", got, rbac+"ClusterRole everywhere", rbac+"ClusterRole gathered", rbac+"ClusterRole of-users", rbac+"Role leader",
		"example.com/v1 Settings default", "v1 ServiceAccount of-children", "scheduling.k8s.io/v1 PriorityClass of-children", rbac+"ClusterRole old")
}
