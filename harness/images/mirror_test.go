package images

import (
	"strings"
	"testing"
)

func TestMirrorIn(t *testing.T) {
	for name, test := range map[string]struct{ targets, want string }{
		"by label":   {"http://a/debian-security/ Debian-Security\nhttp://b/pub/ Debian\nhttp://c/debian/ Debian\n", "http://b/pub"},
		"by path":    {"http://a/debian-security/\nhttp://b/debian/\n", "http://b/debian"},
		"Ubuntu":     {"http://a/ubuntu/ Ubuntu\n", ""},
		"CD-ROM":     {"cdrom:[Debian]/ Debian\n", ""},
		"no sources": {"", ""},
	} {
		if got := mirrorIn(test.targets); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestMirrorFromEnvironment(t *testing.T) {
	t.Setenv("DEBIAN_MIRROR", "http://mine/")
	if got, err := debianMirror(t.Context()); err != nil || got != "http://mine" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestMissingMirrorNamesVariable(t *testing.T) {
	t.Setenv("DEBIAN_MIRROR", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := debianMirror(t.Context()); err == nil || !strings.Contains(err.Error(), "DEBIAN_MIRROR") {
		t.Errorf("got error %v, want one that names DEBIAN_MIRROR", err)
	}
}
