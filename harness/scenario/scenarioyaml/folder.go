package scenarioyaml

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operator-assay/assay/harness/scenario"
)

// LoadFolder reads the folder of a Chainsaw or KUTTL test as a scenario of the folder's name. Each action is followed by a
// wait for convergence, since such tests often assert a part of what they wait for. The namespace that the objects name,
// if they do, is taken for the run's. Time limits other than those of scripts, what is done at a failure, and what only
// prints are left out. What has no counterpart among the steps of this package, and changes what the test means, is an
// error of one line that names it.
func LoadFolder(folder string) (scenario.Scenario, error) {
	t := &test{folder: folder}
	steps, err := t.steps()
	if err != nil {
		return scenario.Scenario{}, fmt.Errorf("%s: %w", folder, err)
	}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return scenario.Scenario{}, err
	}
	parsed, err := parseDocuments(folder, Document{Name: "test/" + filepath.Base(absolute), Steps: steps})
	if err != nil {
		return scenario.Scenario{}, fmt.Errorf("%s: %w", folder, err)
	}
	return parsed[0], nil
}

// step is one of a document.
type step = map[string]map[string]any

// test is one of another tool.
type test struct {
	folder string
	// namespace is the one that its objects name; empty if none does so far.
	namespace string
}

// steps reads the test as its tool does.
func (t *test) steps() ([]step, error) {
	for _, name := range []string{"chainsaw-test.yaml", "chainsaw-test.yml"} {
		if _, err := os.Stat(filepath.Join(t.folder, name)); err == nil {
			return t.chainsaw(name)
		}
	}
	return t.kuttl()
}

// objectSteps returns the steps that do with an object what a Chainsaw operation of this name does.
func (t *test) objectSteps(operation string, fields map[string]any) ([]step, error) {
	object := &unstructured.Unstructured{Object: fields}
	if err := t.takeNamespace(object.GetNamespace()); err != nil {
		return nil, err
	}
	object.SetNamespace("") // that of each run
	if expression := findExpression(fields); expression != "" {
		return nil, fmt.Errorf("the expression %s is not evaluated here: run the test by its own tool with --test", expression)
	}
	if err := check(operation, object, "metadata.name"); err != nil {
		return nil, err
	}
	switch operation {
	case "apply", "create", "update":
		return action(apply, fields), nil
	case "patch":
		return action(patch, fields), nil
	case "delete":
		named := map[string]any{"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "name": object.GetName()}
		return append(action(remove, named), step{unwanted: identityOf(object)}), nil // other tools wait for its end
	default: // assert and error
		return []step{{operation: fields}}, nil
	}
}

// action returns an action, and a wait for its effects.
func action(name string, fields map[string]any) []step {
	return []step{{name: fields}, {converged: {}}}
}

// takeNamespace takes a namespace that the test names for the run's. The test may name one: a run has no other.
func (t *test) takeNamespace(namespace string) error {
	switch {
	case namespace == "", namespace == "$namespace", namespace == "($namespace)":
	case t.namespace == "":
		t.namespace = namespace
	case t.namespace != namespace:
		return fmt.Errorf("the namespaces %s and %s: a run has one only: run the test by its own tool with --test", t.namespace, namespace)
	}
	return nil
}

// readObjects reads a file of the test's folder, those of a folder, or those that a pattern such as *.yaml matches.
func (t *test) readObjects(pattern string) ([]map[string]any, error) {
	path := filepath.Join(t.folder, pattern)
	paths := []string{path}
	switch info, err := os.Stat(path); {
	case err != nil:
		paths, _ = filepath.Glob(path) // a pattern that is none matches nothing
	case info.IsDir():
		paths, _ = filepath.Glob(filepath.Join(path, "*.y*ml"))
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no such file", pattern)
	}
	var objects []map[string]any
	for _, path := range paths {
		more, err := readObjects(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

func readObjects(path string) ([]map[string]any, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	documents, err := documentsOf(text)
	if err != nil {
		return nil, err
	}
	var objects []map[string]any
	for _, document := range documents {
		var object map[string]any
		if utiljson.Unmarshal(document, &object) != nil {
			return nil, errors.New("a document is no object: give it fields such as apiVersion and kind")
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// isExpression matches the keys and texts that Chainsaw evaluates: (in parentheses), ~.forEach, and bound -> name.
var isExpression = regexp.MustCompile(`^\(.+\)$|^~\w*\.|->\s*\w+$`).MatchString

// findExpression returns one that is among the keys and the texts of a value, if there is one.
func findExpression(value any) string {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if isExpression(key) {
				return key
			}
			if found := findExpression(value[key]); found != "" {
				return found
			}
		}
	case []any:
		for _, element := range value {
			if found := findExpression(element); found != "" {
				return found
			}
		}
	case string:
		if strings.HasPrefix(value, "(") && isExpression(value) {
			return value
		}
	}
	return ""
}
