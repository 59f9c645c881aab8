package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestStateDirIsLocked(t *testing.T) {
	clusters := own(t)
	first, err := lockStateDir("mine")
	if err != nil {
		t.Fatal(err)
	}
	_, err = lockStateDir("mine")
	expectRefusal(t, err, `another run uses cluster "mine"`, nameOption)
	other, err := lockStateDir("other")
	if err != nil {
		t.Fatal(err)
	}
	if err := first.unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := lockStateDir("mine")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*stateDir{again, other} {
		if err := d.unlock(); err != nil {
			t.Fatal(err)
		}
	}
	expectNothing(t, clusters)
}

func TestUnreadableState(t *testing.T) {
	own(t)
	d, err := lockStateDir("mine")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.unlock() }()
	if found, err := d.read(); found != nil || err != nil {
		t.Errorf("new directory: got state %+v (error %v), want none", found, err)
	}
	if err := errors.Join(d.write(state{}), os.WriteFile(d.stateFile(), []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err = d.read()
	expectRefusal(t, err, d.stateFile(), "by hand")
}

func TestUnwritableCacheDirectory(t *testing.T) {
	own(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", file)
	t.Setenv("XDG_CACHE_HOME", file)
	_, err := lockStateDir("mine")
	expectRefusal(t, err, file, "set XDG_CACHE_HOME")
}
