package project

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/operator-assay/assay/harness/pod"
)

// Manager describes the container in which the operator or a companion runs, as specified in its Deployment.
type Manager struct {
	// ClusterRules apply in all namespaces. NamespaceRules are additional rules for the manager's own namespace.
	ClusterRules, NamespaceRules []rbacv1.PolicyRule
	// ClusterRoles and NamespaceRoles are names of ClusterRoles, such as edit. Their rules are read from the cluster.
	ClusterRoles, NamespaceRoles []string

	// ServesWebhooks is set if the manager serves an admission or conversion webhook.
	ServesWebhooks bool

	workload  workload
	container corev1.Container
	image     Image
	install   *Install

	data         map[string]pod.Files // content of the Secrets and ConfigMaps, by kind and name, such as "Secret tls"
	missingRoles []string             // messages about roles that are bound but missing from the manifests
	podUID       types.UID            // UID of the manager's Pod in a run; empty without a Pod
}

func (i *Install) newManager(w workload) (*Manager, error) {
	m := &Manager{workload: w, container: w.manager(), install: i, data: dataOf(i.Secrets, i.ConfigMaps)}
	m.readRules()
	if m.container.Name == "" {
		return nil, fmt.Errorf("Deployment %s has no container", w.name)
	}
	return m, nil
}

// Name returns the name of the Deployment or StatefulSet.
func (m *Manager) Name() string { return m.workload.name }

// NoteMissing adds a note for each required variable without a value in the manifests or in env, for each container
// that is not run (except proxies), and for each mounted Secret and ConfigMap that is not in the manifests.
func (m *Manager) NoteMissing(env map[string]string) {
	for _, variable := range m.container.Env {
		_, isSet := env[variable.Name]
		if _, known := m.value(variable, nil, ""); !known && !isSet && !isOptional(variable.ValueFrom) {
			m.install.note(fmt.Sprintf("%s: variable %s has no value in the manifests: set it with env in assay.yaml", m.Name(), variable.Name))
		}
	}
	for _, source := range m.container.EnvFrom {
		missing := ""
		if of := source.SecretRef; of != nil && m.isMissing("Secret "+of.Name, of.Optional) {
			missing = "Secret " + of.Name
		}
		if of := source.ConfigMapRef; of != nil && m.isMissing("ConfigMap "+of.Name, of.Optional) {
			missing = "ConfigMap " + of.Name
		}
		if missing != "" {
			m.install.note(fmt.Sprintf("%s: %s is not in the manifests: set its variables with env in assay.yaml", m.Name(), missing))
		}
	}
	for _, c := range m.workload.template.Spec.Containers {
		if c.Name != m.container.Name && !isProxy(c) {
			m.install.note(fmt.Sprintf("%s: container %s is not run, only %s: if that is the wrong one, name the operator's container in "+
				"the annotation kubectl.kubernetes.io/default-container of the Pod template", m.Name(), c.Name, m.container.Name))
		}
	}
	for _, c := range m.workload.template.Spec.InitContainers {
		m.install.note(fmt.Sprintf("%s: init container %s is not run: if the operator needs its files, pass other paths with arguments after --, or with env in assay.yaml", m.Name(), c.Name))
	}
	for _, volume := range m.workload.template.Spec.Volumes {
		m.noteMissingFiles(volume)
	}
}

func (m *Manager) noteMissingFiles(volume corev1.Volume) {
	at := slices.IndexFunc(m.container.VolumeMounts, func(mount corev1.VolumeMount) bool { return mount.Name == volume.Name })
	if at < 0 {
		return
	}
	for _, source := range sources(volume) {
		if of := source.Secret; of != nil && m.isMissing("Secret "+of.Name, of.Optional) {
			m.install.note(fmt.Sprintf("Secret %s: not in the manifests, so it contains a certificate that is generated for the run", of.Name))
		}
		if of := source.ConfigMap; of != nil && m.isMissing("ConfigMap "+of.Name, of.Optional) && of.Name != RootCA {
			m.install.note(fmt.Sprintf("%s: ConfigMap %s is not in the manifests, so its files are missing from %s: add it to the manifests", m.Name(), of.Name, m.container.VolumeMounts[at].MountPath))
		}
	}
}

func (m *Manager) isMissing(object string, optional *bool) bool {
	_, found := m.data[object]
	return !found && !ptr.Deref(optional, false)
}

func isOptional(from *corev1.EnvVarSource) bool {
	return from.SecretKeyRef != nil && ptr.Deref(from.SecretKeyRef.Optional, false) ||
		from.ConfigMapKeyRef != nil && ptr.Deref(from.ConfigMapKeyRef.Optional, false) ||
		from.FileKeyRef != nil && ptr.Deref(from.FileKeyRef.Optional, false)
}

// With returns a copy of the manager that prefers the given Secrets and ConfigMaps to those in the manifests.
func (m *Manager) With(secrets []*corev1.Secret, configMaps []*corev1.ConfigMap) *Manager {
	with := *m
	with.data = maps.Clone(m.data)
	maps.Copy(with.data, dataOf(secrets, configMaps))
	return &with
}

func dataOf(secrets []*corev1.Secret, configMaps []*corev1.ConfigMap) map[string]pod.Files {
	data := map[string]pod.Files{}
	for _, secret := range secrets {
		data["Secret "+secret.Name] = secret.Data
	}
	for _, configMap := range configMaps {
		files := pod.Files{}
		maps.Copy(files, configMap.BinaryData)
		for key, text := range configMap.Data {
			files[key] = []byte(text)
		}
		data["ConfigMap "+configMap.Name] = files
	}
	return data
}

// Container returns a container that runs binary in the given namespace instead of the Deployment's namespace.
func (m *Manager) Container(binary, namespace string) pod.Container {
	env, arguments, _, _ := m.process(namespace)
	var values []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		values = append(values, name+"="+env[name])
	}
	c := pod.Container{Path: binary, Arguments: arguments, Env: values, Namespace: namespace, Hostname: m.hostname(), Mounts: map[string]pod.Files{}, Files: pod.Files{}}
	own := m.env(namespace) // subPathExpr cannot refer to the image's variables
	for _, mount := range m.container.VolumeMounts {
		isHostPath := func(v corev1.Volume) bool { return v.Name == mount.Name && v.HostPath != nil }
		if isFile(mount.MountPath) && slices.ContainsFunc(m.workload.template.Spec.Volumes, isHostPath) {
			continue // the process sees this machine's file or socket
		}
		files := m.files(mount.Name, namespace)
		subPath := strings.TrimSuffix(cmp.Or(mount.SubPath, resolve(mount.SubPathExpr, own)), "/")
		if content, found := files[subPath]; found {
			c.Files[mount.MountPath] = content
		} else {
			c.Mounts[mount.MountPath] = below(files, subPath)
		}
	}
	for i, argument := range c.Arguments { // the process does not run in the container's working directory
		at := strings.Index(argument, "=") + 1
		file := path.Join("/", m.container.WorkingDir, argument[at:])
		_, isMounted := c.Files[file]
		_, isInMount := c.Mounts[path.Dir(file)][path.Base(file)]
		if (isMounted || isInMount) && !path.IsAbs(argument[at:]) && !isFile(argument[at:]) {
			c.Arguments[i] = argument[:at] + file
		}
	}
	return c
}

func (m *Manager) env(namespace string) map[string]string {
	env := map[string]string{}
	for _, source := range m.container.EnvFrom {
		var data pod.Files
		if of := source.ConfigMapRef; of != nil {
			data = m.data["ConfigMap "+of.Name]
		}
		if of := source.SecretRef; of != nil {
			data = m.data["Secret "+of.Name]
		}
		for key, value := range data {
			env[source.Prefix+key] = inNamespace(source.Prefix+key, string(value), m.workload.namespace, namespace)
		}
	}
	for _, variable := range m.container.Env {
		if value, known := m.value(variable, env, namespace); known {
			env[variable.Name] = inNamespace(variable.Name, value, m.workload.namespace, namespace)
		}
	}
	return env
}

// value expands references such as $(NAME) only in literal values, not in values from a ConfigMap or Secret.
func (m *Manager) value(variable corev1.EnvVar, env map[string]string, namespace string) (string, bool) {
	from := variable.ValueFrom
	switch {
	case from == nil:
		return resolve(clusterctlVariable.ReplaceAllString(variable.Value, "$1"), env), true
	case from.FieldRef != nil:
		return m.field(from.FieldRef.FieldPath, namespace)
	case from.ConfigMapKeyRef != nil:
		value, found := m.data["ConfigMap "+from.ConfigMapKeyRef.Name][from.ConfigMapKeyRef.Key]
		return string(value), found
	case from.SecretKeyRef != nil:
		value, found := m.data["Secret "+from.SecretKeyRef.Name][from.SecretKeyRef.Key]
		return string(value), found
	case from.ResourceFieldRef != nil:
		return m.resource(from.ResourceFieldRef), true
	}
	return "", false
}

func (m *Manager) field(fieldPath, namespace string) (string, bool) {
	template := m.workload.template
	simple := map[string]string{
		"metadata.name": m.podName(), "metadata.namespace": namespace, "metadata.uid": string(m.podUID),
		"spec.nodeName": nodeName, "spec.serviceAccountName": m.workload.serviceAccount(),
		"status.podIP": "127.0.0.1", "status.podIPs": "127.0.0.1", "status.hostIP": "127.0.0.1", "status.hostIPs": "127.0.0.1",
	}
	if value, known := simple[fieldPath]; known {
		return value, true
	}
	for prefix, values := range map[string]map[string]string{"metadata.labels['": template.Labels, "metadata.annotations['": template.Annotations} {
		if key, is := strings.CutPrefix(fieldPath, prefix); is {
			return values[strings.TrimSuffix(key, "']")], true
		}
	}
	return "", false
}

// resource returns a container's limit or request, divided by the divisor and rounded up. A missing request defaults to
// the limit. A missing limit defaults to the resources of the node, which is assumed to be small.
func (m *Manager) resource(of *corev1.ResourceFieldSelector) string {
	container, spec := m.container, m.workload.template.Spec
	for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
		if c.Name == of.ContainerName {
			container = c
		}
	}
	node := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi"), corev1.ResourceEphemeralStorage: resource.MustParse("10Gi")}
	kind, field, _ := strings.Cut(of.Resource, ".")
	name := corev1.ResourceName(field)
	quantity := container.Resources.Limits[name]
	if request, found := container.Resources.Requests[name]; found && kind == "requests" {
		quantity = request
	} else if kind == "limits" && quantity.IsZero() {
		quantity = node[name]
	}
	divisor := of.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	value, unit := quantity.Value(), divisor.Value()
	if name == corev1.ResourceCPU {
		value, unit = quantity.MilliValue(), divisor.MilliValue()
	}
	return fmt.Sprint(int64(math.Ceil(float64(value) / float64(unit))))
}

// reference matches a variable reference or an escaped dollar sign.
var reference = regexp.MustCompile(`\$\$|\$\([-._a-zA-Z0-9]+\)`)

// resolve replaces references of the form $(NAME) as a kubelet does. It keeps references to unknown variables, and to
// HOSTNAME, which is set by the container runtime.
func resolve(text string, env map[string]string) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return "$"
		}
		name := found[2 : len(found)-1]
		if value, known := env[name]; known {
			return value
		}
		return cmp.Or(pod.ServiceEnv[name], found)
	})
}
