package scenarioyaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kuttlEntry matches the files, and the folders of files, of a step: 00-install.yaml, 00-assert.yaml, 00-errors.yaml.
var kuttlEntry = regexp.MustCompile(`^(\d+)-`)

// kuttlFile matches such a file, or one in such a folder, where the number may be left out.
var kuttlFile = regexp.MustCompile(`^(?:\d+-)?([^-.]+)(?:-[^.]+)?\.yaml$`)

// kuttl reads the numbered files of a KUTTL test.
func (t *test) kuttl() ([]step, error) {
	entries, err := os.ReadDir(t.folder)
	if err != nil {
		return nil, err
	}
	files := map[int][]string{} // of each step, in the folder
	for _, entry := range entries {
		parts := kuttlEntry.FindStringSubmatch(entry.Name())
		if parts == nil {
			continue
		}
		index, err := strconv.Atoi(parts[1])
		if err != nil {
			return nil, err
		}
		more := []string{entry.Name()}
		if entry.IsDir() {
			if more, err = filesIn(t.folder, entry.Name()); err != nil {
				return nil, err
			}
		}
		files[index] = append(files[index], more...)
	}
	if len(files) == 0 {
		return nil, errors.New("it holds neither chainsaw-test.yaml nor files such as 00-install.yaml and 00-assert.yaml")
	}
	var steps []step
	for _, index := range slices.Sorted(maps.Keys(files)) {
		more, err := t.kuttlStep(files[index])
		if err != nil {
			return nil, err
		}
		steps = append(steps, more...)
	}
	return steps, nil
}

// filesIn returns the names of a folder's files, with the folder's before them.
func filesIn(parent, folder string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(parent, folder))
	var names []string
	for _, entry := range entries {
		names = append(names, filepath.Join(folder, entry.Name()))
	}
	return names, err
}

// kuttlParts are the steps of a KUTTL step, in the order in which it plays them.
type kuttlParts struct{ deletions, commands, applies, asserts, errors []step }

// kuttlStep reads the files of a step.
func (t *test) kuttlStep(files []string) ([]step, error) {
	var parts kuttlParts
	for _, file := range files {
		if err := t.addFile(&parts, file); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return slices.Concat(parts.deletions, parts.commands, parts.applies, parts.asserts, parts.errors), nil
}

// addFile adds the steps of a file.
func (t *test) addFile(parts *kuttlParts, file string) error {
	named := kuttlFile.FindStringSubmatch(filepath.Base(file))
	if named == nil {
		return noCounterpart("a file whose name is not such as 00-install.yaml")
	}
	objects, err := readObjects(filepath.Join(t.folder, file))
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := t.addObject(parts, strings.ToLower(named[1]), object); err != nil {
			return err
		}
	}
	return nil
}

// addObject adds the steps of an object in a file that is for asserts, for errors, or else for what is applied.
func (t *test) addObject(parts *kuttlParts, use string, object map[string]any) error {
	group, _, _ := strings.Cut(fmt.Sprint(object["apiVersion"]), "/")
	switch kind := object["kind"]; {
	case group != "kuttl.dev" && group != "kudo.dev":
		return t.addManifest(parts, use, object)
	case kind == "TestStep" && use != "assert" && use != "errors":
		return t.addTestStep(parts, object)
	case kind == "TestAssert" && use == "assert":
		text, err := json.Marshal(object)
		if err != nil {
			return err
		}
		return decodeTest(text, &struct{}{}, "apiVersion", "kind", "metadata", "timeout", "collectors")
	default:
		return noCounterpart(fmt.Sprintf("a %v in such a file", kind))
	}
}

func (t *test) addManifest(parts *kuttlParts, use string, object map[string]any) error {
	operation, steps := "apply", &parts.applies
	switch use {
	case "assert":
		operation, steps = "assert", &parts.asserts
	case "errors":
		operation, steps = "error", &parts.errors
	}
	more, err := t.objectSteps(operation, object)
	*steps = append(*steps, more...)
	return err
}

// addTestStep adds what a TestStep says.
func (t *test) addTestStep(parts *kuttlParts, object map[string]any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var given struct {
		Delete   []json.RawMessage `json:"delete"`
		Commands []json.RawMessage `json:"commands"`
		Apply    []json.RawMessage `json:"apply"`
		Assert   []json.RawMessage `json:"assert"`
		Error    []json.RawMessage `json:"error"`
	}
	if err := decodeTest(text, &given, "apiVersion", "kind", "metadata", "index", "unitTest", "timeout"); err != nil {
		return err
	}
	for _, part := range []struct {
		field   string
		entries []json.RawMessage
		read    func(json.RawMessage) ([]step, error)
		steps   *[]step
	}{
		{"delete", given.Delete, t.deleteReferenced, &parts.deletions},
		{"commands", given.Commands, kuttlCommand, &parts.commands},
		{"apply", given.Apply, t.inFiles("apply"), &parts.applies},
		{"assert", given.Assert, t.inFiles("assert"), &parts.asserts},
		{"error", given.Error, t.inFiles("error"), &parts.errors},
	} {
		for _, entry := range part.entries {
			more, err := part.read(entry)
			if err != nil {
				return fmt.Errorf("%s: %w", part.field, err)
			}
			*part.steps = append(*part.steps, more...)
		}
	}
	return nil
}

// inFiles returns what reads the name of a file, for an operation on the objects in it.
func (t *test) inFiles(operation string) func(json.RawMessage) ([]step, error) {
	return func(raw json.RawMessage) ([]step, error) {
		var file string
		if err := decode(raw, &file); err != nil {
			return nil, err
		}
		return t.fileSteps(operation, file)
	}
}

// namesNamespace matches a command that says which namespace it is for.
var namesNamespace = regexp.MustCompile(`(^|\s)(-n|--namespace)\b`).MatchString

func kuttlCommand(raw json.RawMessage) ([]step, error) {
	var given struct {
		Command       string `json:"command"`
		Script        string `json:"script"`
		Timeout       int    `json:"timeout"` // seconds
		Namespaced    bool   `json:"namespaced"`
		IgnoreFailure bool   `json:"ignoreFailure"`
		SkipLogOutput bool   `json:"skipLogOutput"`
	}
	if err := decodeTest(raw, &given, "background"); err != nil { // KUTTL ignores that here, too
		return nil, err
	}
	if (given.Command == "") == (given.Script == "") {
		return nil, errors.New("give a command or a script")
	}
	if given.Script != "" && given.Namespaced {
		return nil, errors.New("namespaced is for a command: use $NAMESPACE in a script")
	}
	script := scriptFields{Content: given.Command + given.Script, SkipLogOutput: given.SkipLogOutput}
	if given.Namespaced && !namesNamespace(given.Command) {
		script.Content += ` --namespace "$NAMESPACE"`
	}
	if given.IgnoreFailure {
		script.Content = "(\n" + script.Content + "\n) || true"
	}
	if given.Timeout != 0 {
		script.Timeout = fmt.Sprintf("%ds", given.Timeout)
	}
	return script.steps("")
}
