package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
	if err := os.MkdirAll(filepath.Dir(d.dir), 0o700); err != nil {
		return nil, notWritable(err)
	}
	d.lock = flock.New(d.dir + ".lock")
	locked, err := d.lock.TryLock()
	if err != nil {
		return nil, notWritable(errors.Join(err, d.lock.Close()))
	}
	if !locked {
		return nil, errors.Join(fmt.Errorf("another run uses cluster %q: wait until it has ended, or choose another %s",
			name, nameOption), d.lock.Close())
	}
	return d, nil
}

func notWritable(err error) error {
	return fmt.Errorf("cannot record the state of clusters: %w: make the path writable, or set XDG_CACHE_HOME to a writable directory", err)
}

// unlock does not remove the lock file, because another run may have opened it.
func (d *stateDir) unlock() error { return d.lock.Close() }

func (d *stateDir) kubeconfig() string { return filepath.Join(d.dir, "kubeconfig") }

type state struct {
	Configuration configuration `json:"configuration"`
	// Kept is true if Close was called with keep set to true.
	Kept bool `json:"kept"`
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

func (d *stateDir) write(r state) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return notWritable(err)
	}
	fresh := d.stateFile() + ".new"
	if err := os.WriteFile(fresh, append(content, '\n'), 0o600); err != nil {
		return notWritable(err)
	}
	return os.Rename(fresh, d.stateFile())
}

func (d *stateDir) removeAll() error { return os.RemoveAll(d.dir) }
