package binaries

import (
	"slices"
	"testing"
)

func TestResolveVersion(t *testing.T) {
	for text, want := range map[string]string{
		"1.37.0":       "v1.37.0",
		"v1.37.0":      "v1.37.0",
		"1.38.0-rc.1":  "v1.38.0-rc.1",
		"v1.10.12":     "v1.10.12",
		"1.38.0-beta.": "",
		"banana":       "",
		"1.37":         "",
		"2.0.0":        "",
		"1.37.0/../..": "",
	} {
		got, err := ResolveVersion(text)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q: got version %s, want an error", text, got)
		case want != "" && err != nil:
			t.Errorf("%q: got error %v", text, err)
		case want != "" && got != want:
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestLibraryVersionsFollowKubernetes(t *testing.T) {
	if got := librariesOf("v1.38.0-rc.1"); got != "v0.38.0-rc.1" {
		t.Errorf("got %s", got)
	}
	if flags := nodeTools("v1.38.0-rc.1").ldflagsX; !slices.Contains(flags, "k8s.io/client-go/pkg/version.gitMajor=1") || !slices.Contains(flags, "k8s.io/client-go/pkg/version.gitMinor=38") {
		t.Errorf("got linker flags %v", flags)
	}
}
