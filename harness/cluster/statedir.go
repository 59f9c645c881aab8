package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/gofrs/flock"
)

type stateDir struct {
	dir  string
	lock *flock.Flock
}

// lockStateDir locks the state directory for a name. The operating system releases the lock when the process exits.
func lockStateDir(name string) (*stateDir, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no cache directory for clusters: set HOME or XDG_CACHE_HOME: %w", err)
	}
	d := &stateDir{dir: filepath.Join(cache, "assay", "clusters", name)}
	d.lock = flock.New(d.dir + ".lock")
	locked := false
	if err = os.MkdirAll(filepath.Dir(d.dir), 0o700); err == nil {
		locked, err = d.lock.TryLock()
	}
	if err != nil {
		err = fmt.Errorf("cannot record the state of clusters: %w: make the path writable, or set XDG_CACHE_HOME to a writable directory", err)
	} else if !locked {
		err = fmt.Errorf("another run uses cluster %q: wait until it has ended, or choose another %s", name, nameOption)
	}
	if err != nil {
		return nil, errors.Join(err, d.unlock())
	}
	return d, nil
}

// unlock does not remove the lock file, because another run may have opened it.
func (d *stateDir) unlock() error { return d.lock.Close() }

func (d *stateDir) kubeconfig() string { return filepath.Join(d.dir, "kubeconfig") }

// stateFormat must be incremented when this package creates clusters differently for the same options.
const stateFormat = 4

type state struct {
	Options `json:"configuration"`
	Format  int `json:"format"`
	// Kept is true if Close was called with keep set to true.
	Kept bool `json:"kept"`
}

// diff returns the fields that differ.
func (s state) diff(other state) string {
	var all []string
	is, to := reflect.ValueOf(s), reflect.ValueOf(other)
	for _, field := range reflect.VisibleFields(is.Type()) {
		got, want := is.FieldByIndex(field.Index).Interface(), to.FieldByIndex(field.Index).Interface()
		if !field.Anonymous && got != want {
			all = append(all, fmt.Sprintf("%s: got %#v, want %#v", field.Name, got, want))
		}
	}
	return strings.Join(all, "; ")
}

func (d *stateDir) stateFile() string { return filepath.Join(d.dir, "cluster.json") }

func (d *stateDir) read() (*state, error) {
	content, err := os.ReadFile(d.stateFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found state
	if err := json.Unmarshal(content, &found); err != nil {
		return nil, fmt.Errorf("cannot parse %s: %w: remove its cluster and directory by hand", d.stateFile(), err)
	}
	return &found, nil
}

// write replaces the state file atomically, because this process may be killed at any time.
func (d *stateDir) write(s state) error {
	content, err := json.MarshalIndent(s, "", "  ")
	fresh := d.stateFile() + ".new"
	if err = errors.Join(err, os.MkdirAll(d.dir, 0o700), os.WriteFile(fresh, content, 0o600)); err != nil {
		return err
	}
	return os.Rename(fresh, d.stateFile())
}

func (d *stateDir) removeAll() error { return os.RemoveAll(d.dir) }
