package main

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// workflow is as much of GitHub's syntax as this repository's workflows use. What they use besides is refused,
// so that nothing is left out in silence.
type workflow struct {
	Name        string
	On          map[string]any
	Permissions permissions
	Concurrency struct {
		Group            string
		CancelInProgress bool `yaml:"cancel-in-progress"`
	}
	Env  map[string]string
	Jobs map[string]*job

	order []string // of the jobs in the file
}

// permissions are those of the job's token by their scopes; nil are GitHub's defaults.
type permissions map[string]string

type job struct {
	Name           string
	Needs          texts
	If             string
	RunsOn         string `yaml:"runs-on"`
	TimeoutMinutes int    `yaml:"timeout-minutes"`
	Environment    string
	Permissions    permissions
	Strategy       struct {
		FailFast *bool `yaml:"fail-fast"`
		Matrix   matrix
	}
	Env   map[string]string
	Steps []step
}

type step struct {
	ID   string
	Name string
	If   string
	Uses string
	With map[string]string
	Env  map[string]string
	Run  string
}

// texts is a list of which GitHub lets a single one stand for itself.
type texts []string

func (t *texts) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*t = texts{node.Value}
		return nil
	}
	return node.Decode((*[]string)(t))
}

func parse(text []byte) (*workflow, error) {
	w := &workflow{}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(w); err != nil {
		return nil, err
	}
	if len(w.Jobs) == 0 {
		return nil, errors.New("there is no job")
	}
	// A map has no order, so it is read from the document.
	var document struct{ Jobs yaml.Node }
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	for i := 0; i < len(document.Jobs.Content); i += 2 {
		w.order = append(w.order, document.Jobs.Content[i].Value)
	}
	for _, id := range w.order {
		for _, needed := range w.Jobs[id].Needs {
			if w.Jobs[needed] == nil {
				return nil, fmt.Errorf("job %s needs %s, which is none", id, needed)
			}
		}
	}
	return w, nil
}
