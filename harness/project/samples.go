package project

import (
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Sample is a custom resource of the operator, as a user would write it.
type Sample struct {
	// File is the path of the sample.
	File string
	// Resource is the custom resource.
	Resource *unstructured.Unstructured
	// Others are the remaining objects in the file, in their original order. They are created before Resource.
	Others []*unstructured.Unstructured
	// CRD defines the kind of Resource.
	CRD *apiextensionsv1.CustomResourceDefinition
}

// ReadSamples reads samples from files and folders, one sample from each file. In a folder with a kustomization, it
// only reads the files that the kustomization lists. It skips files without custom resources of the operator.
func ReadSamples(crds []*apiextensionsv1.CustomResourceDefinition, paths ...string) ([]Sample, error) {
	var samples []Sample
	for _, path := range paths {
		files, err := sampleFiles(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			objects, err := decodeFile(file)
			if err != nil {
				return nil, err
			}
			if sample := newSample(file, objects, crds); sample.Resource != nil {
				samples = append(samples, sample)
			}
		}
	}
	return samples, nil
}

func sampleFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	listed, err := kustomizationResources(path)
	if listed != nil || err != nil {
		return listed, err
	}
	return manifests(path)
}

// kustomizationResources returns the files that the kustomization in folder lists. It returns nil if there is no
// kustomization.
func kustomizationResources(folder string) ([]string, error) {
	file := filepath.Join(folder, "kustomization.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil
	}
	var kustomization struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		return nil, fmt.Errorf("%s: %s", file, firstLine(err))
	}
	var files []string
	for _, resource := range kustomization.Resources {
		more, err := sampleFiles(filepath.Join(folder, resource))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		files = append(files, more...)
	}
	return files, nil
}

// newSample returns a sample with the first object whose kind is defined by one of the CRDs.
func newSample(file string, objects []unstructured.Unstructured, crds []*apiextensionsv1.CustomResourceDefinition) Sample {
	sample := Sample{File: file}
	for _, object := range objects {
		object.SetNamespace("") // it is set to the namespace of each run
		crd := crdOf(object, crds)
		if crd != nil && sample.Resource == nil {
			sample.Resource, sample.CRD = &object, crd
		} else {
			sample.Others = append(sample.Others, &object)
		}
	}
	return sample
}

func crdOf(object unstructured.Unstructured, crds []*apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	kind := object.GroupVersionKind()
	for _, crd := range crds {
		if crd.Spec.Group == kind.Group && crd.Spec.Names.Kind == kind.Kind {
			return crd
		}
	}
	return nil
}

// ReadCRDs reads the CustomResourceDefinitions in files and folders.
func ReadCRDs(paths ...string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var o objects
	for _, path := range paths {
		files, err := sampleFiles(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			found, err := decodeFile(file)
			if err != nil {
				return nil, err
			}
			for _, object := range found {
				if err := o.add(object); err != nil {
					return nil, fmt.Errorf("%s: %s %s: %w", file, object.GetKind(), object.GetName(), err)
				}
			}
		}
	}
	return o.crds, nil
}
