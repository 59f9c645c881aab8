package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// place is where kubeconform looks for the schema of a kind.
func place(dir, group, version, kind string) string {
	if group == "" {
		group = "v1"
	}
	return filepath.Join(dir, strings.ToLower(group), version, strings.ToLower(kind)+".json")
}

// tighten makes every object of a schema refuse fields that it does not list.
func tighten(schema map[string]any) {
	properties, lists := schema["properties"].(map[string]any)
	if _, says := schema["additionalProperties"]; lists && !says {
		schema["additionalProperties"] = false
	}
	children := []any{schema["items"], schema["additionalProperties"], schema["not"]}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		some, _ := schema[keyword].([]any)
		children = append(children, some...)
	}
	for _, property := range properties {
		children = append(children, property)
	}
	for _, child := range children {
		if child, ok := child.(map[string]any); ok {
			tighten(child)
		}
	}
}

func writeJSON(file string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
