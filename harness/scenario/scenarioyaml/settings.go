package scenarioyaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// Settings say what the operator is. Paths are relative to the file's folder; Load joins them with it.
type Settings struct {
	Operator  string            `json:"operator,omitempty"`
	Main      string            `json:"main,omitempty"`
	Install   string            `json:"install,omitempty"`
	Manager   string            `json:"manager,omitempty"`
	Samples   []string          `json:"samples,omitempty"`
	Arguments []string          `json:"arguments,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	Beside    []Beside          `json:"beside,omitempty"`
}

// Beside is a manager that runs beside the operator, without faults, such as a process for its webhooks.
type Beside struct {
	// Deployment is the name of its Deployment or StatefulSet among the manifests.
	Deployment string `json:"deployment"`
	// Main is the main package to build, Operator a binary instead. One of them is given.
	Main     string `json:"main,omitempty"`
	Operator string `json:"operator,omitempty"`
	// Arguments replace those of the Deployment unless they are nil, and Env is added to its variables.
	Arguments []string          `json:"arguments,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
}

// UnmarshalJSON rejects what cannot be started.
func (b *Beside) UnmarshalJSON(text []byte) error {
	type fields Beside // without this method
	if err := decode(text, (*fields)(b)); err != nil {
		return fmt.Errorf("beside: %w", err)
	}
	switch {
	case b.Deployment == "":
		return errors.New("beside: no deployment: name the Deployment or StatefulSet that it is")
	case b.Main == "" && b.Operator == "":
		return fmt.Errorf("beside: %s: no program: give its main package as main, or its binary as operator", b.Deployment)
	case b.Main != "" && b.Operator != "":
		return fmt.Errorf("beside: %s: both main and operator: give one of them", b.Deployment)
	}
	return nil
}

// in returns the settings with their paths in a folder.
func (s Settings) in(folder string) Settings {
	join := func(path string) string {
		if path == "" || path == "-" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(folder, path)
	}
	mainPackage := func(path string) string {
		if path = filepath.ToSlash(join(path)); path == "" || filepath.IsAbs(path) {
			return path
		}
		return "./" + path
	}
	s.Operator, s.Main, s.Install = join(s.Operator), mainPackage(s.Main), join(s.Install)
	s.Beside = slices.Clone(s.Beside)
	for i, beside := range s.Beside {
		s.Beside[i].Operator, s.Beside[i].Main = join(beside.Operator), mainPackage(beside.Main)
	}
	s.Samples = slices.Clone(s.Samples)
	for i, sample := range s.Samples {
		s.Samples[i] = join(sample)
	}
	return s
}

// paths are one path or a list of them.
type paths []string

func (p *paths) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*p = paths{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(p))
}
