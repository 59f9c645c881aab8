package images

import (
	"strings"
	"testing"
)

func TestTheHostsMirrorIsFound(t *testing.T) {
	for name, test := range map[string]struct{ targets, want string }{
		"by its label":  {"http://a/debian-security/ Debian-Security\nhttp://b/pub/ Debian\nhttp://c/debian/ Debian\n", "http://b/pub"},
		"by its path":   {"http://a/debian-security/\nhttp://b/debian/\n", "http://b/debian"},
		"not of Ubuntu": {"http://a/ubuntu/ Ubuntu\n", ""},
		"not of a disc": {"cdrom:[Debian]/ Debian\n", ""},
		"not of none":   {"", ""},
	} {
		if got := mirrorIn(test.targets); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestTheUsersMirrorComesFirst(t *testing.T) {
	t.Setenv("DEBIAN_MIRROR", "http://mine/")
	if got, err := debianMirror(t.Context()); err != nil || got != "http://mine" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestAHostWithoutOneIsToldWhatToSet(t *testing.T) {
	t.Setenv("DEBIAN_MIRROR", "")
	t.Setenv("PATH", t.TempDir()) // no apt-get
	if _, err := debianMirror(t.Context()); err == nil || !strings.Contains(err.Error(), "DEBIAN_MIRROR") {
		t.Errorf("got %v", err)
	}
}
