package main

import (
	"strings"
	"testing"
)

func TestMirrorIsTheUsersOrTheHostsOrTheDefault(t *testing.T) {
	for name, test := range map[string]struct{ targets, want string }{
		"Debian":     {"Debian-Security http://a/debian-security/\nDebian http://b/debian/\nDebian http://c/debian/\n", "http://b/debian"},
		"Ubuntu":     {"Ubuntu http://archive.ubuntu.com/ubuntu/\n", defaultMirror},
		"a disc":     {"Debian cdrom:[Debian]/\n", defaultMirror},
		"no targets": {"", defaultMirror},
	} {
		if got := mirrorAmong(test.targets); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
	t.Setenv("DEBIAN_MIRROR", "http://mine")
	if got := mirror(t.Context()); got != "http://mine" {
		t.Errorf("got %s", got)
	}
}

func TestTooSmallADiskIsNamed(t *testing.T) {
	if err := expectSpace(t.TempDir(), 1); err != nil {
		t.Error(err)
	}
	folder := t.TempDir()
	err := expectSpace(folder, 1<<62)
	if err == nil || !strings.Contains(err.Error(), folder) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

func TestAFailedCommandSaysWhatItComplainsOf(t *testing.T) {
	_, err := output(t.Context(), "sh", "-c", "echo first >&2; echo last >&2; exit 3")
	if err == nil || !strings.Contains(err.Error(), "last") || strings.Contains(err.Error(), "first") {
		t.Errorf("got %v", err)
	}
}
