package binaries

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"github.com/operator-assay/assay/harness/terminal"
)

// lockInterval is the interval at which a waiting run tries to get the lock. It is short, because attempts are cheap.
const lockInterval = 200 * time.Millisecond

func (p *provider) final() string {
	return filepath.Join(p.root, fmt.Sprintf("%s-%s-%s", p.version, runtime.GOOS, runtime.GOARCH))
}

// staging returns the directory for incomplete executables. It is next to the final one, so fill can rename files.
func (p *provider) staging() string { return p.final() + ".staging" }

// fill adds all missing executables to the final directory while it holds the lock. It first removes any staging
// directory that a killed run left behind.
func (p *provider) fill(ctx context.Context) error {
	if err := os.MkdirAll(p.root, 0o755); err != nil {
		return notWritable(err)
	}
	unlock, err := Lock(ctx, p.final()+".lock", "getting the same binaries", p.log)
	if err != nil {
		return err
	}
	defer unlock()
	missing := p.missing(p.final())
	if len(missing) == 0 {
		return nil // another run has added them in the meantime
	}
	p.bundle = p.only(missing)
	dir := p.staging()
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := p.fetch(ctx, dir); err != nil {
		return err
	}
	if err := os.MkdirAll(p.final(), 0o755); err != nil {
		return err
	}
	for _, name := range missing {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(p.final(), name)); err != nil {
			return err
		}
	}
	return nil
}

func notWritable(err error) error {
	return fmt.Errorf("cannot write to the cache directory: %w: set HOME or XDG_CACHE_HOME to a writable directory", err)
}

// Lock locks a file. The operating system releases the lock when the process exits. If another run holds the lock,
// Lock logs what that run is doing and waits.
func Lock(ctx context.Context, file, doing string, log *terminal.Log) (unlock func(), err error) {
	lock := flock.New(file)
	locked, err := lock.TryLock()
	if err == nil && !locked {
		log.Printf("waiting for another run, which is %s", doing)
		_, err = lock.TryLockContext(ctx, lockInterval)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() { lock.Close() }, nil
}
