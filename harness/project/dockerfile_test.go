package project

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDockerfileWithUnknownBase(t *testing.T) {
	for text, want := range map[string]string{
		"ARG BASE\nFROM ${BASE}\nENV A=1\nENTRYPOINT [\"/manager\"]":                               "A=1",
		"ENV A=1\nENTRYPOINT [\"/manager\"]":                                                       "A=1",
		"ARG BASE\nFROM a\nENV X=1\nFROM ${BASE} AS c\nENV A=1\nFROM c\nENTRYPOINT [\"/manager\"]": "A=1",
	} {
		images, err := readDockerfile(write(t, map[string]string{"Dockerfile": text}), "Dockerfile")
		noError(t, err)
		var got []string
		for name, value := range images[0].Env {
			got = append(got, name+"="+value)
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%q: got variables %q, want %s", text, got, want)
		}
	}
}

// The base images contain the program and its arguments.
func TestCommandOfOperatorSDKImage(t *testing.T) {
	for base, want := range map[string]string{
		"quay.io/operator-framework/helm-operator:v1.42.0":    "helm-operator run --watches-file=./watches.yaml",
		"quay.io/operator-framework/ansible-operator:v1.42.0": "ansible-operator run --watches-file=./watches.yaml",
		"quay.io/operator-framework/opm:latest":               "",
	} {
		images, err := readDockerfile(write(t, map[string]string{"Dockerfile": "FROM " + base + "\nCOPY watches.yaml ${HOME}/watches.yaml\n"}), "Dockerfile")
		noError(t, err)
		if got := strings.Join(images[0].Entrypoint, " "); got != want {
			t.Errorf("%s: got %q, want %q", base, got, want)
		}
	}
}

func TestDockerfileOfProgramIsFound(t *testing.T) {
	entry := func(name string) string { return "FROM a\nENTRYPOINT [\"/" + name + "\"]\n" }
	for name, test := range map[string]struct {
		files   map[string]string
		isBuilt bool
		want    string
	}{
		"root":                     {map[string]string{"Dockerfile": entry("op"), "ui/Dockerfile": entry("nginx")}, true, "Dockerfile"},
		"Containerfile":            {map[string]string{"Containerfile": entry("op")}, true, "Containerfile"},
		"build/":                   {map[string]string{"build/Dockerfile": entry("op"), "ui/Dockerfile": entry("nginx")}, true, "build/Dockerfile"},
		"package/":                 {map[string]string{"package/Dockerfile": entry("op")}, true, "package/Dockerfile"},
		"folder per image":         {map[string]string{"images/op/Dockerfile": entry("manager"), "images/manager/Dockerfile": entry("project.test")}, true, "images/manager/Dockerfile"},
		"named folder":             {map[string]string{"Dockerfile": entry("cli"), "deploy/op/Dockerfile": entry("project.test")}, true, "deploy/op/Dockerfile"},
		"suffix":                   {map[string]string{"Dockerfile.debug": entry("op"), "Dockerfile": entry("op"), "Dockerfile.dockerignore": ""}, true, "Dockerfile"},
		"only with a suffix":       {map[string]string{"operator.Dockerfile": entry("op")}, true, "operator.Dockerfile"},
		"no entry point":           {map[string]string{"Dockerfile": "FROM a\n", "docker/Dockerfile": entry("op")}, true, "docker/Dockerfile"},
		"tests and other programs": {map[string]string{"test/Dockerfile": entry("op"), "vendor/Dockerfile": entry("op"), "ui/Dockerfile": entry("nginx")}, true, ""},
		"another program":          {map[string]string{"Dockerfile": entry("op")}, false, ""},
		"specified program":        {map[string]string{"Dockerfile": entry("op"), "build/Dockerfile": entry("project.test")}, false, "build/Dockerfile"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := write(t, test.files)
			got := strings.TrimPrefix(strings.TrimPrefix(FindImage(folder, "/tmp/project.test", test.isBuilt).File, folder), "/")
			if filepath.ToSlash(got) != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if files := dockerfiles(write(t, map[string]string{"a/b/c/d/Dockerfile": "", "a/b/c/d/e/Dockerfile": ""})); !slices.Equal(files, []string{"a/b/c/d/Dockerfile"}) {
		t.Errorf("got %q, want only the file four levels below", files)
	}
}
