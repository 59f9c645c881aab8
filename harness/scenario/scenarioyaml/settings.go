package scenarioyaml

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// Settings describes the operator. Load resolves relative paths against the folder of the settings file.
type Settings struct {
	Operator   string            `json:"operator,omitempty"`
	Main       string            `json:"main,omitempty"`
	Install    string            `json:"install,omitempty"`
	Manager    string            `json:"manager,omitempty"`
	Samples    []string          `json:"samples,omitempty"`
	Arguments  []string          `json:"arguments,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	Companions []Companion       `json:"companions,omitempty"`
	CRDs       []string          `json:"crds,omitempty"`
	Role       []string          `json:"role,omitempty"`
}

// Companion is an additional manager, such as a server for the operator's webhooks. No faults are injected into it.
type Companion struct {
	Deployment string `json:"deployment"`
	// Main is the main package to build. Operator is the path of a binary. Exactly one of them must be set.
	Main     string `json:"main,omitempty"`
	Operator string `json:"operator,omitempty"`
	// Arguments replaces the Deployment's arguments, unless it is nil. Env is added to the Deployment's environment
	// variables and overrides those with the same name.
	Arguments []string          `json:"arguments,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
}

// UnmarshalJSON also checks that the required fields are set.
func (b *Companion) UnmarshalJSON(text []byte) error {
	type fields Companion // drops this method to avoid recursion
	if err := decode(text, (*fields)(b)); err != nil {
		return fmt.Errorf("companions: %w", err)
	}
	switch {
	case b.Deployment == "":
		return errors.New("companions: no deployment: set it to the name of a Deployment or StatefulSet in the manifests")
	case b.Main == "" && b.Operator == "":
		return fmt.Errorf("companions: %s: no program: set main to its main package, or operator to its binary", b.Deployment)
	case b.Main != "" && b.Operator != "":
		return fmt.Errorf("companions: %s: both main and operator are set: remove one of them", b.Deployment)
	}
	return nil
}

// relativeTo returns a copy of the settings in which relative paths start from the given folder.
func (s Settings) relativeTo(folder string) Settings {
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
	s.Companions = slices.Clone(s.Companions)
	for i, companion := range s.Companions {
		s.Companions[i].Operator, s.Companions[i].Main = join(companion.Operator), mainPackage(companion.Main)
	}
	for _, paths := range []*[]string{&s.Samples, &s.CRDs, &s.Role} {
		*paths = slices.Clone(*paths)
		for i, path := range *paths {
			(*paths)[i] = join(path)
		}
	}
	return s
}
