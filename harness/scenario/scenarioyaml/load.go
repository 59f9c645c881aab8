// Package scenarioyaml reads scenarios from YAML files. Authors of operators written in other languages can use it to
// describe scenarios without writing Go. A file lists the operator's CRDs and roles, and the steps of each scenario:
//
//	crds: [crd.yaml]                 # files or folders, relative to this file
//	role: [role.yaml]                # the operator's ClusterRoles and Roles
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
// The following steps are supported:
//   - apply: applies the whole object with server-side apply. Conflicts with other field managers are forced.
//   - patch: applies a merge patch to an existing object.
//   - assert: waits until all given fields have the given values. Maps may have additional keys. Lists must have
//     the same length and are compared element by element. The value null means that the field must not exist,
//     <present> matches any value, and <current> matches the object's generation, as in observedGeneration: <current>.
//   - error: waits until there is no object that matches all given fields. Without any fields, it waits until the
//     object does not exist. Fields are matched as in assert.
//   - delete: deletes an object without waiting for the deletion to complete.
//   - script: runs the shell script in content as the administrator, in the folder of the file. KUBECONFIG, NAMESPACE
//     and the variables in env, a list of name and value, are set. The script is killed after timeout, which defaults
//     to 1m. Its children are killed when it exits. skipLogOutput excludes the output from the error.
//   - converged: waits until nothing is changing and the operator is idle. In a run under faults, it waits until this
//     run has the same state as the reference run had at this step.
//
// All steps except converged are named as in Chainsaw. There is no sleep step; use assert to wait for a state.
//
// The name of an object to delete can contain one *, which matches the part that the API server generated: hello-*.
//
// # Settings
//
// The file assay.yaml can also contain settings that override the conventions of the project:
//
//	main: ./cmd/manager                          # the main package to build; or operator: bin/manager
//	install: config/default                      # a kustomization, a folder of manifests, or a file
//	manager: controller-manager                  # the Deployment, if there are several
//	samples: [config/samples]                    # resources to derive scenarios from, if this file has none
//	arguments: [--leader-elect, --zap-devel]     # replace the arguments of the Deployment
//	env: {WATCH_NAMESPACE: ""}                   # added to the variables of the Deployment
//	companions:                                  # additional managers; no faults are injected into them
//	- deployment: webhook                        # a Deployment or StatefulSet in the manifests
//	  main: ./cmd/webhook                        # the main package to build; or operator: bin/webhook
//	  arguments: [--port=9443]                   # as above
//	  env: {LEVEL: debug}                        # as above
//
// Objects do not set a namespace, because every run uses its own. Objects of cluster-scoped kinds are shared by all
// runs. YAML anchors, aliases and merge keys (&a, *a, <<: *a) are supported, but a map must not repeat a merged key.
package scenarioyaml

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/scenario"
)

// File holds the content of a scenario file.
type File struct {
	Settings
	// Scenarios are in file order. The subject of a scenario is the kind of the first object that it applies.
	Scenarios []scenario.Scenario
}

// Document is a scenario as written in a file. Each step maps an action to its fields.
type Document struct {
	Name  string                      `json:"name"`
	Steps []map[string]map[string]any `json:"steps"`
}

// Load reads a scenario file. The error is a single line that names the file, the scenario and the step.
func Load(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := parseFile(text, filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// parseFile parses a file's content. Relative paths in the file start from the given folder.
func parseFile(text []byte, folder string) (*File, error) {
	content, err := toJSON(text)
	if err != nil {
		return nil, err
	}
	var file struct {
		Settings
		Scenarios []json.RawMessage `json:"scenarios"`
	}
	if err := decode(content, &file); err != nil {
		return nil, err
	}
	documents := make([]Document, len(file.Scenarios))
	for i, raw := range file.Scenarios {
		var given struct {
			Name  string            `json:"name"`
			Steps []json.RawMessage `json:"steps"`
		}
		err := decode(raw, &given)
		documents[i] = Document{given.Name, make([]map[string]map[string]any, len(given.Steps))}
		for index := 0; err == nil && index < len(given.Steps); index++ {
			if err = decode(given.Steps[index], &documents[i].Steps[index]); err != nil {
				err = fmt.Errorf("step %d: %w", index+1, err)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(documents[i], i), err)
		}
	}
	scenarios, err := parse(folder, documents)
	return &File{Settings: file.relativeTo(folder), Scenarios: scenarios}, err
}

// Parse parses documents. Their scripts run in the working directory.
func Parse(documents ...Document) ([]scenario.Scenario, error) { return parse("", documents) }

func nameOf(document Document, index int) string {
	return cmp.Or(document.Name, fmt.Sprintf("scenario %d", index+1))
}

func parse(folder string, documents []Document) ([]scenario.Scenario, error) {
	var scenarios []scenario.Scenario
	for index, document := range documents {
		s, err := parseScenario(folder, document)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(document, index), err)
		}
		for _, earlier := range documents[:index] {
			if earlier.Name == s.Name {
				return nil, fmt.Errorf("scenario %d: an earlier scenario is also named %s: choose another name", index+1, s.Name)
			}
			for i := range min(len(earlier.Steps), len(s.Steps)) {
				if !reflect.DeepEqual(earlier.Steps[i], document.Steps[i]) {
					break
				}
				if s.Steps[i].Name == "Converged" {
					s.Covered = max(s.Covered, i+1)
				}
			}
		}
		scenarios = append(scenarios, s)
	}
	return scenarios, nil
}

func parseScenario(folder string, document Document) (parsed scenario.Scenario, _ error) {
	parsed.Name = document.Name
	switch {
	case parsed.Name == "":
		return parsed, errors.New("no name: add one, such as greeter/create")
	case strings.ContainsFunc(parsed.Name, func(r rune) bool { return unicode.IsSpace(r) || r == '\'' }):
		return parsed, fmt.Errorf("invalid name %q: remove spaces and quotes, because the name is used in shell commands", parsed.Name)
	case len(document.Steps) == 0:
		return parsed, errors.New("no steps: add at least one")
	}
	kinds := []schema.GroupVersionKind{{}} // the first one is the subject
	acts := false
	for index, fields := range document.Steps {
		step, err := parseStep(folder, fields)
		if err != nil {
			return parsed, fmt.Errorf("step %d: %w", index+1, err)
		}
		if step.action == "apply" && kinds[0].Empty() {
			kinds[0] = step.kind
		}
		acts = acts || step.action == "apply" || step.action == "script"
		kinds = append(kinds, step.kind)
		parsed.Steps = append(parsed.Steps, step.Step)
	}
	if !acts {
		return parsed, errors.New("no step creates an object: add an apply or a script step")
	}
	parsed.Subject = kinds[0]
	for _, kind := range kinds {
		if !kind.Empty() && !slices.Contains(parsed.Kinds, kind) {
			parsed.Kinds = append(parsed.Kinds, kind)
		}
	}
	return parsed, nil
}
