package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// document is what matters of an OpenAPI v3 document: the schemas of a group's version, by their names.
type document struct {
	Components struct {
		Schemas map[string]map[string]any `json:"schemas"`
	} `json:"components"`
}

// kinds are those that a schema describes.
type kinds struct {
	Kinds []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
}

// writeKubernetes writes the schemas of all kinds of a version. A kind's file refers to that of its group's
// version, since kinds share most of what they consist of.
func writeKubernetes(ctx context.Context, dir, version string) error {
	source, err := download(ctx, version)
	if err != nil {
		return err
	}
	documents, err := filepath.Glob(filepath.Join(source, "api/openapi-spec/v3/api*__v*_openapi.json"))
	if err != nil || len(documents) == 0 {
		return errors.Join(err, fmt.Errorf("no OpenAPI documents in %s", source))
	}
	for _, file := range documents {
		if err := writeGroup(filepath.Join(dir, version), file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func writeGroup(dir, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var group document
	if err := json.Unmarshal(text, &group); err != nil {
		return err
	}
	shared, err := filepath.Abs(filepath.Join(dir, filepath.Base(file)))
	if err != nil {
		return err
	}
	for name, schema := range group.Components.Schemas {
		described, err := kindsOf(schema)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(described.Kinds) != 1 { // those of many kinds are no resources, such as DeleteOptions
			continue
		}
		kind := described.Kinds[0]
		reference := map[string]string{"$ref": "file://" + shared + "#/components/schemas/" + name}
		if err := writeJSON(place(dir, kind.Group, kind.Version, kind.Kind), reference); err != nil {
			return err
		}
	}
	for _, schema := range group.Components.Schemas {
		tighten(schema)
	}
	return writeJSON(shared, group)
}

func kindsOf(schema map[string]any) (kinds, error) {
	var described kinds
	text, err := json.Marshal(schema)
	if err != nil {
		return described, err
	}
	return described, json.Unmarshal(text, &described)
}

// download has the go command get the sources of a version, which it keeps, and returns their folder.
func download(ctx context.Context, version string) (string, error) {
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", "k8s.io/kubernetes@"+version)
	command.Dir = os.TempDir() // the module of this repository does not require it
	text, err := command.Output()
	var module struct{ Dir, Error string }
	if json.Unmarshal(text, &module) == nil && module.Error != "" {
		return "", errors.New(module.Error)
	}
	return module.Dir, err
}
