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
// All steps except converged are named like the operations in Chainsaw. There is no sleep step; use assert to wait
// for a state.
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
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/scenario"
)

// File holds the content of a scenario file.
type File struct {
	Settings
	// Scenarios are in the same order as in the file. A scenario's subject is the kind of the first object that it
	// applies.
	Scenarios []scenario.Scenario
	// CRDs contains the paths of CustomResourceDefinitions. See controlplane.Options.
	CRDs []string
	// Role contains the paths of the files with the operator's roles. See project.ReadRoles.
	Role []string
}

// Load reads a scenario file. The error is a single line that names the file, the scenario and the step. Steps are
// numbered from 1.
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

type fileFields struct {
	Settings
	CRDs      []string          `json:"crds"`
	Role      []string          `json:"role"`
	Scenarios []json.RawMessage `json:"scenarios"`
}

// parseFile parses a file's content. Paths in it are relative to folder.
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
	if catalogue.CRDs, err = existing(folder, file.CRDs); err != nil {
		return nil, fmt.Errorf("crds: %w", err)
	}
	if catalogue.Role, err = existing(folder, file.Role); err != nil {
		return nil, fmt.Errorf("role: %w", err)
	}
	catalogue.Scenarios, err = parseScenarios(folder, file.Scenarios)
	return catalogue, err
}

// existing joins the paths to folder. It returns an error if one of them does not exist.
func existing(folder string, paths []string) ([]string, error) {
	var joined []string
	for _, path := range paths {
		path = filepath.Join(folder, path)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s does not exist: correct the path", path)
		} else if err != nil {
			return nil, err
		}
		joined = append(joined, path)
	}
	return joined, nil
}

// parseScenarios parses the scenarios in a file. Their scripts run in folder.
func parseScenarios(folder string, documents []json.RawMessage) ([]scenario.Scenario, error) {
	var scenarios []scenario.Scenario
	var texts [][]json.RawMessage // the steps of each scenario
	for index, raw := range documents {
		s, steps, err := parseScenario(folder, raw)
		if s.Name == "" {
			s.Name = fmt.Sprintf("scenario %d", index+1)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		if slices.ContainsFunc(scenarios, func(earlier scenario.Scenario) bool { return earlier.Name == s.Name }) {
			return nil, fmt.Errorf("scenario %d: an earlier scenario is also named %s: choose another name", index+1, s.Name)
		}
		for _, earlier := range texts {
			for i := range min(len(earlier), len(steps)) {
				if !bytes.Equal(earlier[i], steps[i]) {
					break
				}
				if s.Steps[i].Name == "Converged" {
					s.Covered = max(s.Covered, i+1)
				}
			}
		}
		scenarios, texts = append(scenarios, s), append(texts, steps)
	}
	return scenarios, nil
}

// Document is a scenario as written in a file. Each step maps an action to its fields.
type Document struct {
	Name  string                      `json:"name"`
	Steps []map[string]map[string]any `json:"steps"`
}

// Parse parses documents. Their scripts run in the working directory.
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

// parseScenario returns a scenario and its steps as JSON. If it returns an error, the scenario still has its name if
// possible.
func parseScenario(folder string, raw json.RawMessage) (_ scenario.Scenario, steps []json.RawMessage, _ error) {
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
		return parsed, nil, errors.New("no name: add one, such as greeter/create")
	case strings.ContainsFunc(s.Name, func(r rune) bool { return unicode.IsSpace(r) || r == '\'' }):
		return parsed, nil, fmt.Errorf("invalid name %q: remove spaces and quotes, because the name is used in shell commands", s.Name)
	case len(s.Steps) == 0:
		return parsed, nil, errors.New("no steps: add at least one")
	}
	kinds := []schema.GroupVersionKind{{}} // the first one is the subject
	acts := false
	for index, raw := range s.Steps {
		step, err := parseStep(folder, raw)
		if err != nil {
			return parsed, nil, fmt.Errorf("step %d: %w", index+1, err)
		}
		if step.action == "apply" && kinds[0].Empty() {
			kinds[0] = step.kind
		}
		acts = acts || step.action == "apply" || step.action == "script"
		kinds = append(kinds, step.kind)
		parsed.Steps = append(parsed.Steps, step.Step)
	}
	if !acts {
		return parsed, nil, errors.New("no step creates an object: add an apply or a script step")
	}
	parsed.Subject = kinds[0]
	for _, kind := range kinds {
		if !kind.Empty() && !slices.Contains(parsed.Kinds, kind) {
			parsed.Kinds = append(parsed.Kinds, kind)
		}
	}
	return parsed, s.Steps, nil
}
