package scenarioyaml

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/test/harness/scenario"
)

// LoadFolder reads the folder of a Chainsaw or KUTTL test as a scenario of the folder's name. What has no counterpart
// among the steps of this package is an error that says so. Each apply is followed by a wait for convergence, since such
// tests often assert a part of what they wait for.
func LoadFolder(folder string) (scenario.Scenario, error) {
	read := chainsawSteps
	if _, err := os.Stat(filepath.Join(folder, chainsawFile)); err != nil {
		read = kuttlSteps
	}
	steps, err := read(folder)
	if err != nil {
		return scenario.Scenario{}, fmt.Errorf("%s: %w", folder, err)
	}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return scenario.Scenario{}, err
	}
	parsed, err := Parse(Document{Name: "test/" + filepath.Base(absolute), Steps: steps})
	if err != nil {
		return scenario.Scenario{}, fmt.Errorf("%s: %w", folder, err)
	}
	return parsed[0], nil
}

// step is one of a document.
type step = map[string]map[string]any

// operation is what a Chainsaw test does: a name, such as apply, and its fields.
type operation = map[string]json.RawMessage

const chainsawFile = "chainsaw-test.yaml"

// chainsawSteps reads a folder's chainsaw-test.yaml.
func chainsawSteps(folder string) ([]step, error) {
	text, err := os.ReadFile(filepath.Join(folder, chainsawFile))
	if err != nil {
		return nil, err
	}
	var test struct {
		Spec struct {
			Steps []struct {
				Try []operation `json:"try"`
			} `json:"steps"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &test); err != nil {
		return nil, errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	var steps []step
	for i, chainsaw := range test.Spec.Steps {
		for _, operation := range chainsaw.Try {
			more, err := chainsawOperation(folder, operation)
			if err != nil {
				return nil, fmt.Errorf("%s: step %d: %w", chainsawFile, i+1, err)
			}
			steps = append(steps, more...)
		}
	}
	return steps, nil
}

func chainsawOperation(folder string, operation operation) ([]step, error) {
	var steps []step
	for name, raw := range operation {
		var fields struct {
			File     string          `json:"file"`
			Resource json.RawMessage `json:"resource"`
			Ref      map[string]any  `json:"ref"`
		}
		switch name {
		case "description":
			continue
		case "sleep":
			return nil, errors.New("sleep: a time proves nothing: assert the state that it waits for")
		case "apply", "create", "assert", "error", "delete", "patch", "update":
		default:
			return nil, fmt.Errorf("%s: there is no such step here: run the test by its own tool with --test", name)
		}
		if err := json.Unmarshal(raw, &fields); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects, err := operands(folder, fields.File, fields.Resource, fields.Ref)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, object := range objects {
			more, err := stepsFor(name, object)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			steps = append(steps, more...)
		}
	}
	return steps, nil
}

// operands are the objects that an operation is about.
func operands(folder, file string, resource json.RawMessage, ref map[string]any) ([]map[string]any, error) {
	switch {
	case ref != nil:
		return []map[string]any{{"apiVersion": ref["apiVersion"], "kind": ref["kind"], "metadata": map[string]any{"name": ref["name"]}}}, nil
	case len(resource) > 0:
		var object map[string]any
		return []map[string]any{object}, utiljson.Unmarshal(resource, &object)
	case file != "":
		return readObjects(filepath.Join(folder, file))
	default:
		return nil, errors.New("name a file or a resource")
	}
}

func readObjects(path string) ([]map[string]any, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var objects []map[string]any
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err == nil {
			document, err = yaml.YAMLToJSON(document)
		}
		var object map[string]any
		if err == nil {
			err = utiljson.Unmarshal(document, &object)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s", path, strings.Join(strings.Fields(err.Error()), " "))
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
}

// stepsFor returns the steps that do with an object what a Chainsaw operation of this name does.
func stepsFor(name string, fields map[string]any) ([]step, error) {
	object := unstructured.Unstructured{Object: fields}
	object.SetNamespace("") // that of each run
	if expression := findExpression(fields); expression != "" {
		return nil, fmt.Errorf("the expression %s is not evaluated here: run the test by its own tool with --test", expression)
	}
	identity := map[string]any{"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "name": object.GetName()}
	switch name {
	case "apply", "create", "update":
		return []step{{apply: fields}, {converged: {}}}, nil
	case "patch":
		return []step{{patch: fields}, {converged: {}}}, nil
	case "delete":
		return []step{{remove: identity}, {converged: {}}}, nil
	case "error":
		for key := range fields {
			if !slices.Contains([]string{"apiVersion", "kind", "metadata"}, key) {
				return nil, fmt.Errorf("%s %s has %s: here an object can only be absent as a whole", object.GetKind(), object.GetName(), key)
			}
		}
		return []step{{absent: identity}}, nil
	default:
		return []step{{assert: fields}}, nil
	}
}

// findExpression returns the first key or text in parentheses, which Chainsaw evaluates.
func findExpression(value any) string {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			if strings.HasPrefix(key, "(") {
				return key
			}
			if found := findExpression(field); found != "" {
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
		if strings.HasPrefix(value, "(") && strings.HasSuffix(value, ")") {
			return value
		}
	}
	return ""
}

// kuttlFile is a file of a KUTTL test: 00-install.yaml, 00-assert.yaml, 00-errors.yaml.
var kuttlFile = regexp.MustCompile(`^(\d+)-(.+)\.yaml$`)

// kuttlSteps reads the numbered files of a folder: of each number first what is applied, then what is asserted.
func kuttlSteps(folder string) ([]step, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var steps []step
	byNumber := map[string]map[string][]string{} // the files of each number, by what is done with them
	var numbers []string
	for _, entry := range entries {
		parts := kuttlFile.FindStringSubmatch(entry.Name())
		if parts == nil {
			continue
		}
		if byNumber[parts[1]] == nil {
			byNumber[parts[1]] = map[string][]string{}
			numbers = append(numbers, parts[1])
		}
		does := map[string]string{"assert": "assert", "errors": "error"}[parts[2]]
		if does == "" {
			does = "apply"
		}
		byNumber[parts[1]][does] = append(byNumber[parts[1]][does], entry.Name())
	}
	if len(numbers) == 0 {
		return nil, errors.New("it holds neither chainsaw-test.yaml nor files such as 00-install.yaml and 00-assert.yaml")
	}
	for _, number := range numbers {
		for _, does := range []string{"apply", "assert", "error"} {
			for _, file := range byNumber[number][does] {
				more, err := kuttlFileSteps(folder, file, does)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", file, err)
				}
				steps = append(steps, more...)
			}
		}
	}
	return steps, nil
}

func kuttlFileSteps(folder, file, does string) ([]step, error) {
	objects, err := readObjects(filepath.Join(folder, file))
	if err != nil {
		return nil, err
	}
	var steps []step
	for _, object := range objects {
		if kind := object["kind"]; kind == "TestStep" || kind == "TestAssert" {
			return nil, fmt.Errorf("a %v has no counterpart here: run the test by its own tool with --test", kind)
		}
		more, err := stepsFor(does, object)
		if err != nil {
			return nil, err
		}
		steps = append(steps, more...)
	}
	return steps, nil
}
