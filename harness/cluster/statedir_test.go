package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestStateDirIsLocked(t *testing.T) {
	clusters := own(t)
	first, err := lockStateDir("mine")
	noError(t, err)
	_, err = lockStateDir("mine")
	expectRefusal(t, err, `another run uses cluster "mine"`, nameOption)
	other, err := lockStateDir("other")
	noError(t, err)
	noError(t, first.unlock())
	again, err := lockStateDir("mine")
	noError(t, err)
	for _, d := range []*stateDir{again, other} {
		noError(t, d.unlock())
	}
	expectNothing(t, clusters)
}

func TestUnreadableState(t *testing.T) {
	own(t)
	d, err := lockStateDir("mine")
	noError(t, err)
	defer func() { _ = d.unlock() }()
	if found, err := d.read(); found != nil || err != nil {
		t.Errorf("new directory: got state %+v (error %v), want none", found, err)
	}
	noError(t, errors.Join(d.write(state{}), os.WriteFile(d.stateFile(), []byte("{"), 0o600)))
	_, err = d.read()
	expectRefusal(t, err, d.stateFile(), "by hand")
}

func TestUnwritableCacheDirectory(t *testing.T) {
	own(t)
	file := filepath.Join(t.TempDir(), "file")
	noError(t, os.WriteFile(file, nil, 0o600))
	t.Setenv("HOME", file)
	t.Setenv("XDG_CACHE_HOME", file)
	_, err := lockStateDir("mine")
	expectRefusal(t, err, file, "set XDG_CACHE_HOME")
}

func TestUnsupportedCacheDirectory(t *testing.T) {
	own(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // so that nothing is built without the check
	for _, cache := range []string{"a:b", "a,b", `a"b`, "a#b", "a%b"} {
		cache = filepath.Join(t.TempDir(), cache)
		t.Setenv("HOME", cache)
		t.Setenv("XDG_CACHE_HOME", cache)
		_, err := Open(ctx, Options{Provider: KWOK})
		expectRefusal(t, err, cache, "set XDG_CACHE_HOME")
		if err := Delete(t.Context(), Options{}); err != nil {
			t.Error(err)
		}
	}
	usersKubeconfig(t)
	for cache, supported := range map[string]bool{"a:b": false, "a,b": true} {
		cache = filepath.Join(t.TempDir(), cache)
		t.Setenv("HOME", cache)
		t.Setenv("XDG_CACHE_HOME", cache)
		c, err := Open(t.Context(), Options{Provider: Existing, Context: "staging"})
		if !supported {
			expectRefusal(t, err, cache, "set XDG_CACHE_HOME")
		} else if err != nil {
			t.Error(err)
		} else if err := c.Close(t.Context(), false); err != nil {
			t.Error(err)
		}
	}
}

func TestDifferentFieldsAreListed(t *testing.T) {
	kept := state{Options: Options{Provider: KWOK, Nodes: 2, AuditPolicy: "a\nb"}, Format: 1, Kept: true}
	wanted := state{Options: Options{Provider: KWOK, Nodes: 3}, Format: 2, Kept: true}
	if got, want := kept.diff(wanted), `Nodes: got 2, want 3; AuditPolicy: got "a\nb", want ""; Format: got 1, want 2`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestInterruptedWriteKeepsState(t *testing.T) {
	d := &stateDir{dir: t.TempDir()}
	noError(t, errors.Join(d.write(state{Kept: true}), os.Mkdir(d.stateFile()+".new", 0o700)))
	if err := d.write(state{}); err == nil {
		t.Error("got no error for a file that cannot be written")
	}
	if found, err := d.read(); err != nil || !found.Kept {
		t.Errorf("got state %+v (error %v), want the old one", found, err)
	}
}
