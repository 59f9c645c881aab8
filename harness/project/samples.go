package project

import (
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Sample is a resource of one of the operator's kinds, as a user would write it.
type Sample struct {
	// File is where it is from.
	File string
	// Resource is the sample itself.
	Resource *unstructured.Unstructured
	// Others are the other objects of the file, in its order. They are created before the resource.
	Others []*unstructured.Unstructured
	// CRD describes the resource.
	CRD *apiextensionsv1.CustomResourceDefinition
}

// ReadSamples reads samples from files and folders. Each file is one sample; of a kustomization's folder only the files
// that it lists are read. Files without a resource of the operator's kinds are left out.
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

// kustomizationResources returns the files that a folder's kustomization lists; nil if there is none.
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

// newSample takes the first resource of the operator's kinds as the sample.
func newSample(file string, objects []unstructured.Unstructured, crds []*apiextensionsv1.CustomResourceDefinition) Sample {
	sample := Sample{File: file}
	for _, object := range objects {
		object.SetNamespace("") // that of each run
		crd := crdOf(object, crds)
		if crd != nil && sample.Resource == nil {
			sample.Resource, sample.CRD = &object, crd
		} else {
			sample.Others = append(sample.Others, &object)
		}
	}
	return sample
}

// crdOf returns the CRD of an object's kind; nil if there is none.
func crdOf(object unstructured.Unstructured, crds []*apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	kind := object.GroupVersionKind()
	for _, crd := range crds {
		if crd.Spec.Group == kind.Group && crd.Spec.Names.Kind == kind.Kind {
			return crd
		}
	}
	return nil
}

// ReadCRDs reads the CustomResourceDefinitions of files and folders.
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
