package project

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ReadCRDs returns the CustomResourceDefinitions in the given files, folders and kustomizations.
func ReadCRDs(paths ...string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, name := range paths {
		rendered, err := Render(name)
		if err != nil {
			return nil, err
		}
		o, err := readObjects(slices.DeleteFunc(rendered, func(object unstructured.Unstructured) bool {
			return object.GetKind() != "CustomResourceDefinition"
		}))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		crds = append(crds, o.crds...)
	}
	return crds, nil
}

// ReadRoles reads the ClusterRoles and Roles in a file, and returns them as a manifest. It rejects folders, because
// they usually also contain roles for the operator's users.
func ReadRoles(file string) ([]byte, error) {
	if isFolder(file) || isKustomizationFile(file) {
		return nil, fmt.Errorf("%s is a directory or a kustomization: use the YAML file that contains the operator's Role or ClusterRole, such as role.yaml", file)
	}
	rendered, err := Render(file)
	if err != nil {
		return nil, err
	}
	var manifest []byte
	for _, object := range rendered {
		if object.GetKind() != "ClusterRole" && object.GetKind() != "Role" {
			continue
		}
		text, err := object.MarshalJSON()
		if err != nil {
			return nil, err
		}
		manifest = append(append(manifest, text...), "\n---\n"...)
	}
	if manifest == nil {
		return nil, fmt.Errorf("%s contains no ClusterRole and no Role", file)
	}
	return manifest, nil
}
