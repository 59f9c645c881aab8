package scenarioyaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// chainsawTimeouts are those of a test or a step. The others than that of scripts and commands are this package's own.
type chainsawTimeouts struct {
	Exec string `json:"exec"`
}

// operation is what a Chainsaw test does: an action, such as apply, and what is said about it.
type operation = map[string]json.RawMessage

// chainsaw reads the file of a Chainsaw test.
func (t *test) chainsaw(file string) ([]step, error) {
	text, err := os.ReadFile(filepath.Join(t.folder, file))
	if err != nil {
		return nil, err
	}
	documents, err := documentsOf(text)
	if err == nil && len(documents) != 1 {
		err = fmt.Errorf("%d documents: give each test a folder of its own", len(documents))
	}
	var steps []step
	if err == nil {
		steps, err = t.chainsawTest(documents[0])
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return steps, nil
}

func (t *test) chainsawTest(document json.RawMessage) ([]step, error) {
	var test struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := decodeTest(document, &test, "apiVersion", "kind", "metadata"); err != nil {
		return nil, err
	}
	var spec struct {
		Namespace string            `json:"namespace"`
		Timeouts  json.RawMessage   `json:"timeouts"`
		Steps     []json.RawMessage `json:"steps"`
	}
	if err := decodeTest(test.Spec, &spec, "description", "concurrent", "failFast", "skipDelete", "template", "catch",
		"fastNamespaceDeletion", "forceTerminationGracePeriod", "delayBeforeCleanup"); err != nil {
		return nil, err
	}
	if err := t.takeNamespace(spec.Namespace); err != nil {
		return nil, err
	}
	var steps, atTheEnd []step
	for i, raw := range spec.Steps {
		more, cleanup, err := t.chainsawStep(raw, spec.Timeouts)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		steps = append(steps, more...)
		atTheEnd = append(cleanup, atTheEnd...) // the last step cleans up first
	}
	return append(steps, atTheEnd...), nil
}

// chainsawStep returns the steps of a Chainsaw step, and those by which it cleans up when the test has ended.
func (t *test) chainsawStep(raw, timeouts json.RawMessage) (steps, cleanup []step, err error) {
	var given struct {
		Timeouts json.RawMessage `json:"timeouts"`
		Try      []operation     `json:"try"`
		Finally  []operation     `json:"finally"`
		Cleanup  []operation     `json:"cleanup"`
	}
	if err := decodeTest(raw, &given, "name", "description", "skipDelete", "template", "catch"); err != nil {
		return nil, nil, err
	}
	var limits chainsawTimeouts
	for _, raw := range []json.RawMessage{timeouts, given.Timeouts} {
		if len(raw) == 0 {
			continue
		}
		if err := decodeTest(raw, &limits, "apply", "assert", "cleanup", "delete", "error"); err != nil {
			return nil, nil, fmt.Errorf("timeouts: %w", err)
		}
	}
	if steps, err = t.operations(slices.Concat(given.Try, given.Finally), limits); err != nil {
		return nil, nil, err
	}
	cleanup, err = t.operations(given.Cleanup, limits)
	return steps, cleanup, err
}

func (t *test) operations(operations []operation, limits chainsawTimeouts) ([]step, error) {
	var steps []step
	for _, operation := range operations {
		for _, ignored := range []string{"description", "compiler", "continueOnError"} { // a failure remains one
			delete(operation, ignored)
		}
		named := slices.Sorted(maps.Keys(operation))
		switch {
		case len(named) == 0:
			return nil, errors.New("no action in an operation: give it one such as apply")
		case len(named) > 1:
			return nil, fmt.Errorf("%d actions in an operation (%s): give each an operation of its own", len(named), strings.Join(named, ", "))
		}
		more, err := t.operation(named[0], operation[named[0]], limits)
		if err != nil {
			return nil, err
		}
		steps = append(steps, more...)
	}
	return steps, nil
}

func (t *test) operation(name string, fields json.RawMessage, limits chainsawTimeouts) (steps []step, err error) {
	switch name {
	case "apply", "create", "update", "patch", "assert", "error":
		steps, err = t.resource(name, fields)
	case "delete":
		steps, err = t.deletion(fields)
	case "wait":
		steps, err = t.wait(fields)
	case "script":
		steps, err = t.script(fields, limits)
	case "command":
		steps, err = t.command(fields, limits)
	case "describe", "events", "get", "podLogs": // they only print
	case "sleep":
		err = errors.New(noSleep)
	default:
		return nil, noCounterpart(name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return steps, nil
}

// resource returns the steps of an operation on the objects of a file, or on one that is given.
func (t *test) resource(operation string, fields json.RawMessage) ([]step, error) {
	var given struct {
		File     string          `json:"file"`
		Resource json.RawMessage `json:"resource"`
	}
	if err := decodeTest(fields, &given, "timeout", "template"); err != nil {
		return nil, err
	}
	if len(given.Resource) == 0 {
		return t.fileSteps(operation, given.File)
	}
	var object map[string]any
	if err := utiljson.Unmarshal(given.Resource, &object); err != nil {
		return nil, err
	}
	return t.objectSteps(operation, object)
}

// fileSteps returns the steps of an operation on the objects of files.
func (t *test) fileSteps(operation, pattern string) ([]step, error) {
	if pattern == "" {
		return nil, errors.New("name a file or an object")
	}
	objects, err := t.readObjects(pattern)
	if err != nil {
		return nil, err
	}
	var steps []step
	for _, object := range objects {
		more, err := t.objectSteps(operation, object)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
		steps = append(steps, more...)
	}
	return steps, nil
}

// reference names an object, as in Chainsaw and KUTTL.
type reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// object is the object without other fields.
func (r reference) object() map[string]any {
	metadata := map[string]any{"name": r.Name, "namespace": r.Namespace}
	return map[string]any{"apiVersion": r.APIVersion, "kind": r.Kind, "metadata": metadata}
}

func (t *test) deletion(fields json.RawMessage) ([]step, error) {
	var given struct {
		File string          `json:"file"`
		Ref  json.RawMessage `json:"ref"`
	}
	if err := decodeTest(fields, &given, "timeout", "template"); err != nil {
		return nil, err
	}
	if len(given.Ref) == 0 {
		return t.fileSteps("delete", given.File)
	}
	return t.deleteReferenced(given.Ref)
}

func (t *test) deleteReferenced(raw json.RawMessage) ([]step, error) {
	var ref reference
	if err := decodeTest(raw, &ref); err != nil {
		return nil, err
	}
	return t.objectSteps("delete", ref.object())
}

// wait returns the step that waits for an object's creation or deletion.
func (t *test) wait(fields json.RawMessage) ([]step, error) {
	var given struct {
		reference
		For operation `json:"for"`
	}
	if err := decodeTest(fields, &given, "timeout", "format"); err != nil {
		return nil, err
	}
	for name := range given.For {
		switch name {
		case "creation":
			return t.objectSteps("assert", given.object())
		case "deletion":
			return t.objectSteps("error", given.object())
		default:
			return nil, noCounterpart(name)
		}
	}
	return nil, errors.New("for: name what to wait for")
}

func (t *test) script(fields json.RawMessage, limits chainsawTimeouts) ([]step, error) {
	var given scriptFields
	if err := decodeTest(fields, &given, "skipCommandOutput"); err != nil {
		return nil, err
	}
	return given.steps(limits.Exec)
}

func (t *test) command(fields json.RawMessage, limits chainsawTimeouts) ([]step, error) {
	var given struct {
		Entrypoint    string     `json:"entrypoint"`
		Args          []string   `json:"args"`
		Timeout       string     `json:"timeout"`
		Env           []variable `json:"env"`
		SkipLogOutput bool       `json:"skipLogOutput"`
	}
	if err := decodeTest(fields, &given, "skipCommandOutput"); err != nil {
		return nil, err
	}
	if given.Entrypoint == "" {
		return nil, errors.New("name the program as entrypoint")
	}
	words := []string{quote(given.Entrypoint)}
	for _, arg := range given.Args {
		words = append(words, quote(arg))
	}
	return scriptFields{strings.Join(words, " "), given.Timeout, given.Env, given.SkipLogOutput}.steps(limits.Exec)
}
