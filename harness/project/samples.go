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

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
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

// ReadSamples reads samples from files and folders, and renders folders with a kustomization. It returns the first
// resource of each of the operator's kinds in each file. Sample.Others contains the other objects in the same file, and
// the objects from other files in the folder that the sample references by name, directly or indirectly. For a
// kustomization, it also contains all generated objects and all objects from files without samples. notes contains
// messages about fields that are left out, and about left-out objects of the operator's own kinds or that a sample
// needs.
func ReadSamples(crds []*apiextensionsv1.CustomResourceDefinition, paths ...string) (samples []Sample, notes []string, _ error) {
	for _, name := range paths {
		files, err := readFiles(name, "a sample")
		if err != nil {
			return nil, nil, err
		}
		inFile := make([][]Sample, len(files))
		all, shared := map[string][]*unstructured.Unstructured{}, map[string][]*unstructured.Unstructured{} // by folder
		for i, file := range files {
			usable, leftOut, err := usableObjects(file, crds)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", file.name, err)
			}
			notes = append(notes, leftOut...)
			inFile[i] = newSamples(file.name, usable, crds)
			usable = slices.DeleteFunc(usable, isNamespace)
			all[file.folder] = append(all[file.folder], usable...)
			if len(inFile[i]) == 0 && file.isRendered {
				shared[file.folder] = append(shared[file.folder], usable...)
			}
		}
		for i, file := range files {
			for _, sample := range inFile[i] {
				named := namedBy(append(slices.Clone(sample.Others), sample.Resource), all[file.folder])
				named = slices.DeleteFunc(named, func(object *unstructured.Unstructured) bool { return slices.Contains(shared[file.folder], object) })
				sample.Others = slices.DeleteFunc(slices.Concat(shared[file.folder], named, sample.Others), func(object *unstructured.Unstructured) bool {
					isForeign := crdOf(*object, crds) == nil && !scheme.Scheme.Recognizes(object.GroupVersionKind())
					if isForeign {
						notes = append(notes, leftOutNote(object))
					}
					return isForeign
				})
				samples = append(samples, sample)
			}
		}
	}
	slices.Sort(notes)
	return samples, slices.Compact(notes), nil
}

// namedBy returns the objects in a folder that the given objects reference by name, directly or indirectly. Directly
// referenced objects come last.
func namedBy(objects, folder []*unstructured.Unstructured) []*unstructured.Unstructured {
	all := slices.Clone(objects)
	for i := 0; i < len(all); i++ {
		for _, other := range folder {
			isKnown := slices.ContainsFunc(all, func(known *unstructured.Unstructured) bool {
				return known.GroupVersionKind().GroupKind() == other.GroupVersionKind().GroupKind() && known.GetName() == other.GetName()
			})
			if !isKnown && mentions(all[i].Object, other.GetName()) {
				all = append(all, other)
			}
		}
	}
	found := all[len(objects):]
	slices.Reverse(found)
	return found
}

// notReferences lists fields that do not refer to other objects. For example, label values often match object names.
var notReferences = []string{"apiVersion", "kind", "metadata", "status", "labels", "matchLabels", "selector"}

// mentions reports whether a field of the value is equal to name.
func mentions(value any, name string) bool {
	switch value := value.(type) {
	case string:
		return value == name && name != ""
	case []any:
		return slices.ContainsFunc(value, func(element any) bool { return mentions(element, name) })
	case map[string]any:
		for key, field := range value {
			if !slices.Contains(notReferences, key) && mentions(field, name) {
				return true
			}
		}
	}
	return false
}

var notSamples = regexp.MustCompile(`(^|/)(vendor|testdata|templates)(/|$)`)

// FindSamples lists up to five folders that contain custom resources of the operator. It ignores the known samples. If
// a folder has a kustomization, FindSamples lists the files with the custom resources instead.
func FindSamples(folder string, crds []*apiextensionsv1.CustomResourceDefinition, known []Sample) string {
	var found []string
	for file := range files(folder, notSamples, maxLevels) {
		in, full := path.Dir(file), filepath.Join(folder, file)
		isKnown := slices.ContainsFunc(known, func(s Sample) bool { return s.File == full })
		if !yamlFile.MatchString(file) || slices.Contains(found, in) || isKnown {
			continue
		}
		objects, _ := decodeFile(full) // ignore unreadable files
		if slices.ContainsFunc(objects, func(object unstructured.Unstructured) bool { return crdOf(object, crds) != nil }) {
			if isKustomization(filepath.Join(folder, in)) {
				in = file // the kustomization does not list it
			}
			found = append(found, in)
		}
	}
	return list(found)
}

func isNamespace(object *unstructured.Unstructured) bool {
	return object.GetKind() == "Namespace" && object.GetAPIVersion() == "v1"
}

// manifestFile holds the objects from a file. If isRendered is true, they were rendered with the kustomization in the
// folder. Objects from a generator have no source file, so the field name contains the folder.
type manifestFile struct {
	name, folder string
	isRendered   bool
	objects      []unstructured.Unstructured
}

// readFiles decodes a file, or the files in a folder. description is used in error messages, for example "a sample".
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
	return []manifestFile{{name: folder, folder: filepath.Dir(folder), objects: objects}}, err
}

func leftOutNote(object *unstructured.Unstructured) string {
	return fmt.Sprintf("objects of kind %s are left out of the samples, because their CRD is not installed: add the CRD to the manifests", object.GetKind())
}

// usableObjects returns the objects of a file, and notes about fields that the API server does not recognize. It omits
// CRDs, each Namespace that contains another object in the file, and the operator's own kinds that have no CRD.
func usableObjects(file manifestFile, crds []*apiextensionsv1.CustomResourceDefinition) (usable []*unstructured.Unstructured, notes []string, _ error) {
	namespaces := sets.New[string]()
	for _, object := range file.objects {
		namespaces.Insert(object.GetNamespace())
	}
	for _, object := range file.objects {
		crd := crdOf(object, crds)
		isReplaced := isNamespace(&object) && namespaces.Has(object.GetName()) // each run has its own
		if isReplaced || object.GetKind() == "CustomResourceDefinition" {
			continue
		}
		isOwn := func(other *apiextensionsv1.CustomResourceDefinition) bool {
			return other.Spec.Group == object.GroupVersionKind().Group
		}
		if crd == nil && slices.ContainsFunc(crds, isOwn) {
			notes = append(notes, leftOutNote(&object))
			continue
		}
		object.SetNamespace("") // it is set to the namespace of each run
		if prefix := object.GetGenerateName(); prefix != "" && object.GetName() == "" {
			object.SetName(strings.TrimSuffix(prefix, "-") + "-sample") // server-side apply requires a name
			object.SetGenerateName("")
		}
		unknown, err := prune(object, crd)
		if err != nil {
			return nil, nil, err
		}
		if len(unknown) > 0 {
			notes = append(notes, fmt.Sprintf("%s: the CRD of %s does not have %s, which is left out", file.name, object.GetKind(), strings.Join(unknown, ", ")))
		}
		usable = append(usable, &object)
	}
	return usable, notes, nil
}

// prune removes unknown fields, and null values that the schema does not allow. The API server drops them when kubectl
// creates the object, but rejects them in a server-side apply. A spec that contains only comments is null, for example.
// prune returns the paths of the unknown fields.
func prune(object unstructured.Unstructured, crd *apiextensionsv1.CustomResourceDefinition) ([]string, error) {
	source := schemaOf(object, crd)
	if source == nil {
		return nil, nil
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(source, internal, nil); err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(internal)
	if err != nil {
		return nil, err
	}
	withoutDefaults := schema.Visitor{Structural: func(s *schema.Structural) bool {
		isChanged := s.Default.Object != nil
		s.Default.Object = nil
		return isChanged
	}}
	withoutDefaults.Visit(structural) // the API server sets the defaults of fields that are not applied
	defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, structural)
	return pruning.PruneWithOptions(object.Object, structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}), nil
}

// schemaOf returns the schema of an object, or nil if its CRD does not have one.
func schemaOf(object unstructured.Unstructured, crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.JSONSchemaProps {
	if crd != nil {
		for _, version := range crd.Spec.Versions {
			if version.Name == object.GroupVersionKind().Version && version.Schema != nil {
				return version.Schema.OpenAPIV3Schema
			}
		}
	}
	return nil
}

// newSamples creates a sample from the first object of each kind that one of the CRDs defines.
func newSamples(file string, objects []*unstructured.Unstructured, crds []*apiextensionsv1.CustomResourceDefinition) (samples []Sample) {
	for _, object := range objects {
		crd := crdOf(*object, crds)
		isKnown := slices.ContainsFunc(samples, func(s Sample) bool { return s.CRD == crd })
		if crd != nil && !isKnown {
			others := slices.DeleteFunc(slices.Clone(objects), func(other *unstructured.Unstructured) bool { return other == object })
			samples = append(samples, Sample{File: file, Resource: object, Others: others, CRD: crd})
		}
	}
	return samples
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
	of := schemaOf(*s.Resource, s.CRD)
	return of != nil && slices.ContainsFunc(of.Required, func(field string) bool {
		_, isSet := s.Resource.Object[field]
		return !isSet && of.Properties[field].Default == nil
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
