// Package scenarioyaml reads scenarios from YAML, so that the author of an operator in another language can
// describe its behaviour without any Go. A file says what the operator needs from the cluster, and what its user
// does and expects:
//
//	crds: [crd.yaml]                 # files, or folders of them, relative to this one
//	role: role.yaml                  # the operator's ClusterRoles and Roles, in one file or a list of files
//	scenarios:
//	- name: greeter/scale-2-to-3
//	  steps:
//	  - apply: {apiVersion: example.com/v1, kind: Greeter, metadata: {name: hello}, spec: {replicas: 2}}
//	  - assert: {apiVersion: apps/v1, kind: Deployment, metadata: {name: hello}, status: {readyReplicas: 2}}
//	  - apply: {apiVersion: example.com/v1, kind: Greeter, metadata: {name: hello}, spec: {replicas: 3}}
//	  - assert: {apiVersion: apps/v1, kind: Deployment, metadata: {name: hello}, status: {readyReplicas: 3}}
//	  - delete: {apiVersion: example.com/v1, kind: Greeter, name: hello}
//	  - absent: {apiVersion: apps/v1, kind: Deployment, name: hello}
//
// The steps are:
//   - apply: a server-side apply of the whole object, which takes over fields from other managers
//   - patch: a merge patch of an object that exists
//   - assert: waits until every given field has its value; maps may hold more, lists are compared element by
//     element and in length, and null stands for a field that does not exist, as in KUTTL and Chainsaw; <present>
//     stands for any value, and <current> for the object's generation, as in observedGeneration: <current>
//   - delete: a deletion; the step does not wait for its end
//   - absent: waits until the object does not exist
//   - converged: waits until nothing changes any more and the operator is idle; under a fault, until the state is that
//     of the reference at this step
//
// The name of an object to delete may have one *, which stands for what the API server generated: hello-*.
//
// # Settings
//
// assay.yaml, which is such a file, may also say what the operator is, where the project's conventions do not:
//
//	main: ./cmd/manager                          # the main package to build; or operator: bin/manager
//	install: config/default                      # a kustomization, a folder of manifests, or a file
//	manager: controller-manager                  # the Deployment, if there are several
//	samples: [config/samples]                    # resources to invent scenarios from, if there are none here
//	arguments: [--leader-elect, --zap-devel]     # instead of the Deployment's
//	env: {WATCH_NAMESPACE: ""}                   # added to the Deployment's
//	beside:                                      # managers that run beside the operator, without faults
//	- deployment: webhook                        # the Deployment, or StatefulSet, among the manifests
//	  main: ./cmd/webhook                        # the main package to build; or operator: bin/webhook
//	  arguments: [--port=9443]                   # instead of the Deployment's
//	  env: {LEVEL: debug}                        # added to the Deployment's
//
// SchemaURL has a JSON schema of such files, by which editors complete and check them.
//
// Objects name no namespace, because every run has its own; objects of cluster-scoped kinds are shared by all
// runs. YAML's anchors (&a, *a, <<: *a) save repetition, and keys beside << override what it merges.
package scenarioyaml

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/test/harness/scenario"
)

// File is the content of a scenario file.
type File struct {
	Settings
	// Scenarios are in the file's order. The subject of each is the kind that it applies first.
	Scenarios []scenario.Scenario
	// CRDs are for controlplane.Options.
	CRDs []string
	// Role is for controlplane.ControlPlane.User; empty if the file names none.
	Role []byte
}

// Load reads a file. Its error is one line that names the file and what is wrong in it, by scenario and step; the
// first step is step 1.
func Load(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	catalogue, err := parseFile(text, filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return catalogue, nil
}

// fileFields are the fields of a file. The schema in assay.schema.json describes them.
type fileFields struct {
	Settings
	CRDs      []string          `json:"crds"`
	Role      paths             `json:"role"`
	Scenarios []json.RawMessage `json:"scenarios"`
}

// parseFile parses a file's text. The paths in it are relative to folder.
func parseFile(text []byte, folder string) (*File, error) {
	document, err := toJSON(text)
	if err != nil {
		return nil, err
	}
	var file fileFields
	if err := decode(document, &file); err != nil {
		return nil, err
	}
	catalogue := &File{Settings: file.in(folder)}
	for _, crd := range file.CRDs {
		crd = filepath.Join(folder, crd)
		if _, err := os.Stat(crd); err != nil {
			return nil, fmt.Errorf("crds: %w", err)
		}
		catalogue.CRDs = append(catalogue.CRDs, crd)
	}
	for _, role := range file.Role {
		manifest, err := os.ReadFile(filepath.Join(folder, role))
		if err != nil {
			return nil, fmt.Errorf("role: %w", err)
		}
		catalogue.Role = append(append(catalogue.Role, "\n---\n"...), manifest...)
	}
	catalogue.Scenarios, err = parseScenarios(file.Scenarios)
	return catalogue, err
}

// parseScenarios returns the scenarios of a catalogue.
func parseScenarios(documents []json.RawMessage) ([]scenario.Scenario, error) {
	var scenarios []scenario.Scenario
	var steps [][]string // of each, as text
	for index, raw := range documents {
		s, texts, err := parseScenario(raw)
		if s.Name == "" {
			s.Name = fmt.Sprintf("scenario %d", index+1)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		if slices.ContainsFunc(scenarios, func(earlier scenario.Scenario) bool { return earlier.Name == s.Name }) {
			return nil, fmt.Errorf("scenario %d: %s is the name of an earlier one", index+1, s.Name)
		}
		for _, earlier := range steps {
			s.Covered = max(s.Covered, covered(earlier, texts))
		}
		scenarios, steps = append(scenarios, s), append(steps, texts)
	}
	return scenarios, nil
}

// covered returns how many of the first steps are those of an earlier scenario, up to one that waits for convergence.
func covered(earlier, steps []string) int {
	count := 0
	for i := range min(len(earlier), len(steps)) {
		if earlier[i] != steps[i] {
			break
		}
		if steps[i] == convergedStep {
			count = i + 1
		}
	}
	return count
}

// convergedStep is the text of a step that waits for convergence.
const convergedStep = `{"` + converged + `":{}}`

// Document is a scenario as a file has it: steps are an action each, with its fields.
type Document struct {
	Name  string                      `json:"name"`
	Steps []map[string]map[string]any `json:"steps"`
}

// Parse returns the scenarios of documents.
func Parse(documents ...Document) ([]scenario.Scenario, error) {
	var all []json.RawMessage
	for _, document := range documents {
		raw, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		all = append(all, raw)
	}
	return parseScenarios(all)
}

// parseScenario returns a scenario and its steps as text. It returns the name even of an invalid one, if it has one.
func parseScenario(raw json.RawMessage) (_ scenario.Scenario, texts []string, _ error) {
	var s struct {
		Name  string            `json:"name"`
		Steps []json.RawMessage `json:"steps"`
	}
	err := decode(raw, &s)
	parsed := scenario.Scenario{Name: s.Name}
	switch {
	case err != nil:
		return parsed, nil, err
	case s.Name == "":
		return parsed, nil, errors.New("no name: give it one such as greeter/create")
	case strings.ContainsFunc(s.Name, func(r rune) bool { return unicode.IsSpace(r) || r == '\'' }):
		return parsed, nil, fmt.Errorf("name %q: no spaces and no quotes, for it is part of the commands that play it again", s.Name)
	case len(s.Steps) == 0:
		return parsed, nil, errors.New("no steps: give at least one")
	}
	var kinds []schema.GroupVersionKind
	applied := objects{}
	for index, raw := range s.Steps {
		action, object, err := parseStep(raw)
		if err != nil {
			return parsed, nil, fmt.Errorf("step %d: %w", index+1, err)
		}
		if action == apply && parsed.Subject.Empty() {
			parsed.Subject = object.GroupVersionKind()
		}
		if object != nil {
			kinds = append(kinds, object.GroupVersionKind())
		}
		parsed.Steps = append(parsed.Steps, applied.step(action, object))
		texts = append(texts, string(raw))
	}
	if parsed.Subject.Empty() {
		return parsed, nil, errors.New("it applies nothing, so there is no subject: give it an apply step")
	}
	for _, kind := range slices.Insert(kinds, 0, parsed.Subject) {
		if !slices.Contains(parsed.Kinds, kind) {
			parsed.Kinds = append(parsed.Kinds, kind)
		}
	}
	return parsed, texts, nil
}

// toJSON converts the one document of a YAML file, in which no key may occur twice.
func toJSON(text []byte) ([]byte, error) {
	var documents [][]byte
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			document, err = merge(document)
		}
		if err == nil {
			document, err = yaml.YAMLToJSONStrict(document)
		}
		if err != nil {
			return nil, errors.New(strings.Join(strings.Fields(err.Error()), " ")) // on one line
		}
		if string(document) != "null" {
			documents = append(documents, document)
		}
	}
	switch len(documents) {
	case 0:
		return nil, errors.New("the file is empty: give it settings or scenarios, or remove it")
	case 1:
		return documents[0], nil
	default:
		return nil, fmt.Errorf("%d documents: put all scenarios into one", len(documents))
	}
}

// decode rejects unknown fields, and keeps numbers as they are written.
func decode(document []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	err := decoder.Decode(into)
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		want := map[reflect.Kind]string{reflect.String: "text", reflect.Slice: "a list"}[mistyped.Type.Kind()]
		got := map[string]string{"string": "text", "array": "a list", "object": "fields", "number": "a number", "bool": "true or false"}[mistyped.Value]
		field := strings.TrimPrefix(mistyped.Field, "Settings.") // the struct's name, which the file does not have
		complaint := fmt.Sprintf("%s: want %s, got %s", field, cmp.Or(want, "fields"), cmp.Or(got, mistyped.Value))
		return errors.New(strings.TrimPrefix(complaint, ": ")) // the field is empty if it is the whole document
	}
	if err != nil {
		complaint, isUnknown := strings.CutPrefix(err.Error(), "json: unknown field ")
		if isUnknown {
			return fmt.Errorf("unknown field %s: the fields are %s", complaint, strings.Join(fieldNames(into), ", "))
		}
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// fieldNames are the names of a struct's fields in a document.
func fieldNames(of any) []string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeOf(of).Elem()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}
