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
//	  - error: {apiVersion: apps/v1, kind: Deployment, metadata: {name: hello}}
//
// The steps are:
//   - apply: a server-side apply of the whole object, which takes over fields from other managers
//   - patch: a merge patch of an object that exists
//   - assert: waits until every given field has its value; maps may hold more, lists are compared element by
//     element and in length, and null stands for a field that does not exist; <present>
//     stands for any value, and <current> for the object's generation, as in observedGeneration: <current>
//   - error: waits until no such object exists that has all the given fields; without any, until the object does not
//     exist; fields are given as for assert
//   - delete: a deletion; the step does not wait for its end
//   - script: runs a shell script, its content, as the administrator, with KUBECONFIG and NAMESPACE of the run and the
//     variables in env, a list of name and value; in the file's folder; it is killed after its timeout, of 1m if it gives
//     none, and its children at its end; skipLogOutput keeps its output out of the error
//   - converged: waits until nothing changes any more and the operator is idle; under a fault, until the state is that
//     of the reference at this step
//
// All steps except converged have the names of Chainsaw's operations. There is no sleep: assert the state that it would
// wait for.
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
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/scenario"
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
	catalogue.Scenarios, err = parseScenarios(folder, file.Scenarios)
	return catalogue, err
}

// parseScenarios returns the scenarios of a catalogue, whose scripts run in folder.
func parseScenarios(folder string, documents []json.RawMessage) ([]scenario.Scenario, error) {
	var scenarios []scenario.Scenario
	var steps [][]string // of each, as text
	for index, raw := range documents {
		s, texts, err := parseScenario(folder, raw)
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

// Parse returns the scenarios of documents. Their scripts run in this process's folder.
func Parse(documents ...Document) ([]scenario.Scenario, error) {
	var all []json.RawMessage
	for _, document := range documents {
		raw, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		all = append(all, raw)
	}
	return parseScenarios("", all)
}

// parseScenario returns a scenario and its steps as text. It returns the name even of an invalid one, if it has one.
func parseScenario(folder string, raw json.RawMessage) (_ scenario.Scenario, texts []string, _ error) {
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
	acts := false
	for index, raw := range s.Steps {
		step, err := parseStep(folder, raw)
		if err != nil {
			return parsed, nil, fmt.Errorf("step %d: %w", index+1, err)
		}
		if step.action == apply && parsed.Subject.Empty() {
			parsed.Subject = step.object.GroupVersionKind()
		}
		acts = acts || step.action == apply || step.action == script
		if step.object != nil {
			kinds = append(kinds, step.object.GroupVersionKind())
		}
		parsed.Steps = append(parsed.Steps, play(step))
		texts = append(texts, string(raw))
	}
	if !acts {
		return parsed, nil, errors.New("it changes nothing: give it an apply or a script step")
	}
	for _, kind := range slices.Insert(kinds, 0, parsed.Subject) {
		if !kind.Empty() && !slices.Contains(parsed.Kinds, kind) {
			parsed.Kinds = append(parsed.Kinds, kind)
		}
	}
	return parsed, texts, nil
}
