package project

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/operator-assay/assay/harness/pod"
)

// RootCA is a ConfigMap that Kubernetes creates in every namespace.
const RootCA = "kube-root-ca.crt"

// files returns the content of a volume, which is empty for types such as emptyDir and hostPath.
func (m *Manager) files(name, namespace string) pod.Files {
	i := slices.IndexFunc(m.workload.template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	files := pod.Files{}
	for _, source := range sources(m.workload.template.Spec.Volumes[i]) {
		switch {
		case source.ConfigMap != nil:
			maps.Copy(files, pick(m.data["ConfigMap "+source.ConfigMap.Name], source.ConfigMap.Items))
		case source.Secret != nil:
			content := m.data["Secret "+source.Secret.Name]
			if m.isMissing("Secret "+source.Secret.Name, source.Secret.Optional) {
				generated := m.install.certificates
				content = pod.Files{"tls.crt": generated.Certificate, "tls.key": generated.Key, "ca.crt": generated.CA}
			}
			maps.Copy(files, pick(content, source.Secret.Items))
		case source.DownwardAPI != nil:
			maps.Copy(files, m.downwardFiles(source.DownwardAPI.Items, namespace))
		case source.ServiceAccountToken != nil:
			files[source.ServiceAccountToken.Path] = []byte("assay")
		}
	}
	return files
}

func sources(volume corev1.Volume) []corev1.VolumeProjection {
	switch {
	case volume.ConfigMap != nil:
		return []corev1.VolumeProjection{{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: volume.ConfigMap.LocalObjectReference, Items: volume.ConfigMap.Items, Optional: volume.ConfigMap.Optional}}}
	case volume.Secret != nil:
		reference := corev1.LocalObjectReference{Name: volume.Secret.SecretName}
		return []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{LocalObjectReference: reference, Items: volume.Secret.Items, Optional: volume.Secret.Optional}}}
	case volume.DownwardAPI != nil:
		return []corev1.VolumeProjection{{DownwardAPI: &corev1.DownwardAPIProjection{Items: volume.DownwardAPI.Items}}}
	case volume.Projected != nil:
		return volume.Projected.Sources
	}
	return nil
}

// below returns the files in a volume's subfolder, relative to that subfolder. An empty folder selects all files.
func below(files pod.Files, folder string) pod.Files {
	if folder == "" {
		return files
	}
	found := pod.Files{}
	for path, content := range files {
		if rest, inside := strings.CutPrefix(path, folder+"/"); inside {
			found[rest] = content
		}
	}
	return found
}

// pick returns the files selected by items, keyed by the paths in items. It returns all files if items is empty.
func pick(files pod.Files, items []corev1.KeyToPath) pod.Files {
	if len(items) == 0 {
		return files
	}
	picked := pod.Files{}
	for _, item := range items {
		if content, found := files[item.Key]; found {
			picked[item.Path] = content
		}
	}
	return picked
}

func (m *Manager) downwardFiles(items []corev1.DownwardAPIVolumeFile, namespace string) pod.Files {
	files := pod.Files{}
	all := map[string]map[string]string{"metadata.labels": m.workload.template.Labels, "metadata.annotations": m.workload.template.Annotations}
	for _, item := range items {
		if item.ResourceFieldRef != nil {
			files[item.Path] = []byte(m.resource(item.ResourceFieldRef))
		}
		if item.FieldRef == nil {
			continue
		}
		value, _ := m.field(item.FieldRef.FieldPath, namespace)
		values := all[item.FieldRef.FieldPath]
		for _, key := range slices.Sorted(maps.Keys(values)) {
			value += fmt.Sprintf("%s=%q\n", key, values[key])
		}
		files[item.Path] = []byte(value)
	}
	return files
}
