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

// place is the folder of a cluster's name. Whoever holds one is the only one who does.
type place struct {
	dir  string
	lock *flock.Flock
}

// occupy takes the place of a name. The system gives it free if its holder dies.
func occupy(name string) (*place, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no folder to keep clusters in: set HOME or XDG_CACHE_HOME: %w", err)
	}
	p := &place{dir: filepath.Join(cache, "assay", "clusters", name)}
	if err := os.MkdirAll(filepath.Dir(p.dir), 0o700); err != nil {
		return nil, unwritable(err)
	}
	for {
		p.lock = flock.New(p.dir + ".lock")
		locked, err := p.lock.TryLock()
		if err != nil {
			return nil, unwritable(errors.Join(err, p.lock.Close()))
		}
		if !locked {
			return nil, errors.Join(fmt.Errorf("another run uses the cluster %q: wait until that ends, or choose another name by %s",
				name, clusterVariable), p.lock.Close())
		}
		// The holder before may have removed the file between the opening and the locking of it.
		held, err := p.lock.Stat()
		if err != nil {
			return nil, errors.Join(err, p.lock.Close())
		}
		if named, err := os.Stat(p.dir + ".lock"); err == nil && os.SameFile(held, named) {
			return p, nil
		}
		if err := p.lock.Close(); err != nil {
			return nil, err
		}
	}
}

func unwritable(err error) error {
	return fmt.Errorf("clusters cannot be kept track of: %w: make that writable, or set XDG_CACHE_HOME to a folder that is", err)
}

// leave gives the place free. Of a place without a cluster nothing remains.
func (p *place) leave() error {
	var err error
	if _, statErr := os.Stat(p.dir); errors.Is(statErr, fs.ErrNotExist) {
		err = os.Remove(p.dir + ".lock")
	}
	return errors.Join(err, p.lock.Close())
}

func (p *place) kubeconfig() string { return filepath.Join(p.dir, "kubeconfig") }

// record is what a place tells of its cluster.
type record struct {
	Configuration configuration `json:"configuration"`
	// Kept clusters stay when the run that made them has ended.
	Kept bool `json:"kept"`
}

func (p *place) recordFile() string { return filepath.Join(p.dir, "cluster.json") }

// read returns what is known of the cluster that is here, or nil if there is none.
func (p *place) read() (*record, error) {
	content, err := os.ReadFile(p.recordFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found record
	if err := json.Unmarshal(content, &found); err != nil {
		return nil, fmt.Errorf("%s cannot be understood: %w: remove its cluster and folder by hand", p.recordFile(), err)
	}
	return &found, nil
}

// write puts a record in the place of the one before, whole or not at all.
func (p *place) write(r record) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return unwritable(err)
	}
	fresh := p.recordFile() + ".new"
	if err := os.WriteFile(fresh, append(content, '\n'), 0o600); err != nil {
		return unwritable(err)
	}
	return os.Rename(fresh, p.recordFile())
}

// clear removes everything but the lock.
func (p *place) clear() error { return os.RemoveAll(p.dir) }
