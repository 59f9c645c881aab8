// Package portdir makes envtest store its list of used ports in a writable directory. An init function of envtest
// chooses a directory in the user's cache directory. If the user has no writable cache directory, portdir sets
// XDG_CACHE_HOME to a directory in TMPDIR, which is not removed. portdir is initialized before envtest, because Go
// initializes packages in the order of their import paths once their dependencies are initialized. It only helps on
// Linux, because macOS does not use XDG_CACHE_HOME.
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

// Restore resets XDG_CACHE_HOME. Call it in the init function of a package that imports envtest.
func Restore() { restore() }
