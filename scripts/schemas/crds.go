package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// definition is what matters of a CustomResourceDefinition.
type definition struct {
	Spec struct {
		Group    string `json:"group"`
		Names    struct{ Kind string }
		Versions []struct {
			Name   string
			Schema struct {
				OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
			}
		}
	}
}

// writeCRDs writes the schemas of the CustomResourceDefinitions in a folder.
func writeCRDs(dir, crds string) error {
	files, err := filepath.Glob(filepath.Join(crds, "*.yaml"))
	if err != nil || len(files) == 0 {
		return errors.Join(err, fmt.Errorf("no CRD is in %s", crds))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var crd definition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, version := range crd.Spec.Versions {
			schema := version.Schema.OpenAPIV3Schema
			tighten(schema)
			if err := writeJSON(place(dir, crd.Spec.Group, version.Name, crd.Spec.Names.Kind), schema); err != nil {
				return err
			}
		}
	}
	return nil
}
