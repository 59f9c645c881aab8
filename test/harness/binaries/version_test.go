package binaries

import (
	"strings"
	"testing"
)

func TestVersionIsReadWithAndWithoutTheLeadingV(t *testing.T) {
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
		"":             "",
	} {
		got, err := parseVersion(text)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q was taken for version %s", text, got)
		case want != "" && err != nil:
			t.Errorf("%q was refused: %v", text, err)
		case want != "" && got.String() != want:
			t.Errorf("%q was read as %s, not %s", text, got, want)
		}
	}
}

func TestARefusedVersionSaysWhatOneLooksLike(t *testing.T) {
	_, err := parseVersion("banana")
	if err == nil || !strings.Contains(err.Error(), `"banana"`) || !strings.Contains(err.Error(), DefaultVersion) {
		t.Fatalf("not helpful: %v", err)
	}
}

func TestLibrariesFollowKubernetes(t *testing.T) {
	v, err := parseVersion("1.38.0-rc.1")
	if err != nil {
		t.Fatal(err)
	}
	if librariesOf(v.String()) != "v0.38.0-rc.1" || v.major() != "1" || v.minor() != "38" {
		t.Fatalf("libraries %s, major %s, minor %s", librariesOf(v.String()), v.major(), v.minor())
	}
}
