package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/scheme"
)

// Sample is one of the operator's custom resources, as a user would write it.
type Sample struct {
	// File is the path of the sample.
	File string
	// Resource is the custom resource.
	Resource *unstructured.Unstructured
	// Others are the other objects that the sample needs. They are created before Resource, in this order.
	Others []*unstructured.Unstructured
	// CRD defines the kind of Resource.
	CRD *apiextensionsv1.CustomResourceDefinition
}

// ReadSamples reads samples from files and folders. It returns the first resource of every kind in each file, and skips
// files without any of the operator's custom resources. If a folder contains a kustomization, ReadSamples renders
// it. Rendered objects that do not come from a sample file, such as generated Secrets, are added to the Others of every
// sample in the kustomization.
func ReadSamples(crds []*apiextensionsv1.CustomResourceDefinition, paths ...string) ([]Sample, error) {
	var samples []Sample
	for _, name := range paths {
		files, err := readFiles(name, "a sample")
		if err != nil {
			return nil, err
		}
		inFile := make([][]Sample, len(files))
		shared := map[string][]*unstructured.Unstructured{} // by kustomization
		for i, file := range files {
			found, others := newSamples(file.name, file.objects, crds)
			inFile[i] = found
			if len(found) == 0 && file.kustomization != "" {
				shared[file.kustomization] = append(shared[file.kustomization], slices.DeleteFunc(others, isUnavailable)...)
			}
		}
		for i, file := range files {
			for _, sample := range inFile[i] {
				sample.Others = slices.Concat(shared[file.kustomization], sample.Others)
				samples = append(samples, sample)
			}
		}
	}
	return samples, nil
}

var notSamples = regexp.MustCompile(`(^|/)(vendor|testdata|templates)(/|$)`)

// FindSamples lists the first few subfolders that contain the operator's custom resources, except those in known.
func FindSamples(folder string, crds []*apiextensionsv1.CustomResourceDefinition, known []Sample) string {
	var kinds, groups []string
	for _, crd := range crds {
		kinds, groups = append(kinds, regexp.QuoteMeta(crd.Spec.Names.Kind)), append(groups, regexp.QuoteMeta(crd.Spec.Group))
	}
	kind := regexp.MustCompile(`(?m)^kind: *["']?(` + strings.Join(kinds, "|") + `)\b`)
	group := regexp.MustCompile(`(?m)^apiVersion: *["']?(` + strings.Join(groups, "|") + `)/`)
	var found []string
	for file := range files(folder, notSamples) {
		in, full := path.Dir(file), filepath.Join(folder, file)
		isKnown := slices.ContainsFunc(known, func(s Sample) bool { return s.File == full })
		if !yamlFile.MatchString(file) || slices.Contains(found, in) || isKnown {
			continue
		}
		if text, err := os.ReadFile(full); err == nil && kind.Match(text) && group.Match(text) {
			if isKustomization(filepath.Join(folder, in)) {
				in = file // the kustomization does not list it
			}
			found = append(found, in)
		}
	}
	return list(found)
}

// isUnavailable reports whether the object cannot be created in a run. This applies to Namespaces, because each run has
// its own, and to kinds that are not built into Kubernetes.
func isUnavailable(object *unstructured.Unstructured) bool {
	return isNamespace(*object) || !scheme.Scheme.Recognizes(object.GroupVersionKind())
}

func isNamespace(object unstructured.Unstructured) bool {
	return object.GetKind() == "Namespace" && object.GetAPIVersion() == "v1"
}

// manifestFile holds the objects in a file. If the objects were rendered, kustomization is the folder of the
// kustomization. Generated objects do not come from a file, so name is that folder as well.
type manifestFile struct {
	name, kustomization string
	objects             []unstructured.Unstructured
}

// readFiles decodes a file, or the files in a folder. description is the expected content, for error messages.
func readFiles(folder, description string) ([]manifestFile, error) {
	if isKustomizationFile(folder) {
		folder = filepath.Dir(folder)
	}
	info, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) && strings.Contains(folder, "://") {
		return nil, fmt.Errorf("%s is a URL: download it, and pass the path of the file", folder)
	}
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(folder, "*?[") {
		return nil, fmt.Errorf("%s does not exist, and patterns are not expanded: pass a directory, or repeat the flag for each file", folder)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist: pass the path of %s", folder, description)
	}
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return readFolder(folder)
	}
	objects, err := decodeFile(folder)
	return []manifestFile{{name: folder, objects: objects}}, err
}

// newSamples returns a sample for each CRD that has objects in the file, based on the first of them. usable contains
// all objects except the Namespaces of other objects in the file.
func newSamples(file string, objects []unstructured.Unstructured, crds []*apiextensionsv1.CustomResourceDefinition) (samples []Sample, usable []*unstructured.Unstructured) {
	namespaces := sets.New[string]()
	for _, object := range objects {
		namespaces.Insert(object.GetNamespace())
	}
	for _, object := range objects {
		if isNamespace(object) && namespaces.Has(object.GetName()) {
			continue // each run has its own
		}
		object.SetNamespace("") // it is set to the namespace of each run
		crd := crdOf(object, crds)
		dropNulls(object.Object, schemaOf(crd, object.GroupVersionKind().Version))
		usable = append(usable, &object)
		isKnown := slices.ContainsFunc(samples, func(s Sample) bool { return s.CRD == crd })
		if crd != nil && !isKnown {
			samples = append(samples, Sample{File: file, Resource: &object, CRD: crd})
		}
	}
	for i, sample := range samples {
		samples[i].Others = slices.DeleteFunc(slices.Clone(usable), func(other *unstructured.Unstructured) bool { return other == sample.Resource })
	}
	return samples, usable
}

func schemaOf(crd *apiextensionsv1.CustomResourceDefinition, version string) apiextensionsv1.JSONSchemaProps {
	if crd != nil {
		for _, v := range crd.Spec.Versions {
			if v.Name == version && v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
				return *v.Schema.OpenAPIV3Schema
			}
		}
	}
	return apiextensionsv1.JSONSchemaProps{}
}

// dropNulls removes null fields that are not nullable, such as a spec that contains only a comment. The API server does
// the same when kubectl apply creates the object, but it rejects nulls in a server-side apply.
func dropNulls(object map[string]any, schema apiextensionsv1.JSONSchemaProps) {
	for key, value := range object {
		field := schema.Properties[key]
		switch value := value.(type) {
		case nil:
			if !field.Nullable {
				delete(object, key)
			}
		case map[string]any:
			dropNulls(value, field)
		case []any:
			for _, element := range value {
				if element, isObject := element.(map[string]any); isObject && field.Items != nil && field.Items.Schema != nil {
					dropNulls(element, *field.Items.Schema)
				}
			}
		}
	}
}

// IsEmpty reports whether the sample sets no fields, like an unedited sample from kubebuilder.
func (s Sample) IsEmpty() bool {
	for key, value := range s.Resource.Object {
		fields, isObject := value.(map[string]any)
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, key) && (!isObject || len(fields) > 0) {
			return false
		}
	}
	return true
}

// IsIncomplete reports whether the sample lacks a top-level field that its CRD requires.
func (s Sample) IsIncomplete() bool {
	schema := schemaOf(s.CRD, s.Resource.GroupVersionKind().Version)
	return slices.ContainsFunc(schema.Required, func(field string) bool {
		_, isSet := s.Resource.Object[field]
		return !isSet
	})
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
