package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const openAPI = `{"components": {"schemas": {
  "io.x.Widget": {"type": "object", "properties": {"spec": {"allOf": [{"$ref": "#/components/schemas/io.x.Spec"}]}},
    "x-kubernetes-group-version-kind": [{"group": "Example.com", "version": "v1", "kind": "Widget"}]},
  "io.x.Spec": {"type": "object", "properties": {"properties": {"type": "object", "properties": {"a": {"type": "string"}}},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}}, "list": {"type": "array", "items": {"properties": {"b": {}}}}}},
  "io.x.Options": {"type": "object", "x-kubernetes-group-version-kind": [{"kind": "A"}, {"kind": "B"}]}}}}`

func TestAKindsFileRefersToItsGroups(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "apis__example.com__v1_openapi.json")
	if err := os.WriteFile(file, []byte(openAPI), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := writeGroup(out, file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, "example.com/v1/widget.json"))
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Base(file) + `#/components/schemas/io.x.Widget"`; !strings.Contains(string(text), want) {
		t.Errorf("want a reference to %s, got %s", want, text)
	}
	written, _ := filepath.Glob(filepath.Join(out, "*", "*", "*"))
	if len(written) != 1 {
		t.Errorf("what is no kind has a file: %v", written)
	}
}

func TestObjectsRefuseWhatTheyDoNotList(t *testing.T) {
	var group document
	if err := json.Unmarshal([]byte(openAPI), &group); err != nil {
		t.Fatal(err)
	}
	spec := group.Components.Schemas["io.x.Spec"]
	tighten(spec)
	got, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"additionalProperties":false,"properties":{` +
		`"labels":{"additionalProperties":{"type":"string"},"type":"object"},` +
		`"list":{"items":{"additionalProperties":false,"properties":{"b":{}}},"type":"array"},` +
		`"properties":{"additionalProperties":false,"properties":{"a":{"type":"string"}},"type":"object"}},"type":"object"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTheCRDsHaveSchemas(t *testing.T) {
	dir := t.TempDir()
	if err := writeCRDs(dir, "../../operator/config/crd/bases"); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"my.domain/v1/webserver.json", "cache.example.com/v1alpha1/memcached.json"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(string(text), `"additionalProperties":false`) {
			t.Errorf("%s: %v: %s", file, err, text)
		}
	}
	if err := writeCRDs(dir, dir); err == nil || !strings.Contains(err.Error(), "no CRD is in") {
		t.Errorf("got %v for a folder without CRDs", err)
	}
}
