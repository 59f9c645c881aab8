package project

import (
	"slices"
	"testing"
)

func TestDockerfileWithUnknownBase(t *testing.T) {
	for text, want := range map[string]string{
		"ARG BASE\nFROM ${BASE}\nENV A=1\nENTRYPOINT [\"/manager\"]":                               "A=1",
		"ENV A=1\nENTRYPOINT [\"/manager\"]":                                                       "A=1",
		"ARG BASE\nFROM a\nENV X=1\nFROM ${BASE} AS c\nENV A=1\nFROM c\nENTRYPOINT [\"/manager\"]": "A=1",
	} {
		images, err := readDockerfile(write(t, map[string]string{"Dockerfile": text}), "Dockerfile")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for name, value := range images[0].Env {
			got = append(got, name+"="+value)
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%q: got variables %q, want %s", text, got, want)
		}
	}
}
