package project

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/operator-assay/assay/harness/pod"
)

// files returns a volume's content. It returns no files for an emptyDir or for volumes that depend on a node.
func (m *Manager) files(name, namespace string) pod.Files {
	i := slices.IndexFunc(m.workload.template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	volume := m.workload.template.Spec.Volumes[i]
	switch {
	case volume.ConfigMap != nil:
		return m.configMapFiles(volume.ConfigMap.Name, volume.ConfigMap.Items)
	case volume.Secret != nil:
		return m.secretFiles(volume.Secret.SecretName, volume.Secret.Items, optional(volume))
	case volume.DownwardAPI != nil:
		return m.downwardFiles(volume.DownwardAPI.Items, namespace)
	case volume.Projected != nil:
		files := pod.Files{}
		for _, source := range volume.Projected.Sources {
			switch {
			case source.ConfigMap != nil:
				maps.Copy(files, m.configMapFiles(source.ConfigMap.Name, source.ConfigMap.Items))
			case source.Secret != nil:
				maps.Copy(files, m.secretFiles(source.Secret.Name, source.Secret.Items, ptr.Deref(source.Secret.Optional, false)))
			case source.DownwardAPI != nil:
				maps.Copy(files, m.downwardFiles(source.DownwardAPI.Items, namespace))
			case source.ServiceAccountToken != nil:
				files[source.ServiceAccountToken.Path] = []byte("assay")
			}
		}
		return files
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

func (m *Manager) configMapFiles(name string, items []corev1.KeyToPath) pod.Files {
	configMap := m.configMap(name)
	if configMap == nil {
		return nil
	}
	files := pod.Files{}
	for key, text := range configMap.Data {
		files[key] = []byte(text)
	}
	maps.Copy(files, configMap.BinaryData)
	return pick(files, items)
}

func (m *Manager) secretFiles(name string, items []corev1.KeyToPath, isOptional bool) pod.Files {
	if secret := m.secret(name); secret != nil {
		return pick(maps.Clone(secret.Data), items)
	}
	if isOptional {
		return nil
	}
	certificates := m.install.certificates
	made := pod.Files{"tls.crt": certificates.Certificate, "tls.key": certificates.Key, "ca.crt": certificates.CA}
	return pick(made, items)
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

func secretOf(volume corev1.Volume) string {
	if volume.Secret == nil {
		return ""
	}
	return volume.Secret.SecretName
}

func optional(volume corev1.Volume) bool {
	return volume.Secret != nil && ptr.Deref(volume.Secret.Optional, false)
}
