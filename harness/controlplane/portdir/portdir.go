// Package portdir makes envtest store the list of its ports in a writable directory. envtest chooses the directory in an
// init function: it is in the user's cache directory, or in TMPDIR if that does not exist. It may belong to another user
// or be on a read-only file system. This package is initialized before envtest, because Go initializes packages in the
// order of their import paths once their dependencies are initialized. It only helps on Linux, because macOS does not
// use XDG_CACHE_HOME, and it leaves a directory in TMPDIR.
package portdir

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const variable = "XDG_CACHE_HOME"

var restore = func() {}

func init() {
	cache, err := os.UserCacheDir()
	if err == nil {
		dir := filepath.Join(cache, "kubebuilder-envtest")
		const writable = 2
		if err = os.MkdirAll(dir, 0o750); err == nil {
			err = syscall.Access(dir, writable)
		}
	}
	if err == nil {
		return
	}
	if cache, isSet := os.LookupEnv(variable); isSet {
		restore = func() { _ = os.Setenv(variable, cache) }
	} else {
		restore = func() { _ = os.Unsetenv(variable) }
	}
	instead := filepath.Join(os.TempDir(), fmt.Sprintf("envtest-%d", os.Getuid()))
	if unusable := os.MkdirAll(instead, 0o700); unusable != nil { // envtest would panic
		fmt.Fprintf(os.Stderr, "error: %v; %v: set TMPDIR to a writable directory\n", err, unusable)
		os.Exit(1)
	}
	_ = os.Setenv(variable, instead)
}

// Restore restores the environment. Call it in the init function of a package that imports envtest.
func Restore() { restore() }
