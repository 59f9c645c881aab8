package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// MakeTempDir creates a directory with the given prefix in TMPDIR. It returns an error if the path contains a colon,
// because KUBECONFIG is a colon-separated list of paths.
func MakeTempDir(prefix string) (string, error) {
	temp, err := filepath.Abs(os.TempDir())
	if err != nil {
		return "", err
	}
	if strings.Contains(temp, string(os.PathListSeparator)) {
		return "", fmt.Errorf("the temporary directory %q has a colon in its path: set TMPDIR to another directory", temp)
	}
	folder, err := os.MkdirTemp(temp, prefix)
	if err != nil {
		return "", fmt.Errorf("%w: set TMPDIR to a writable directory", err)
	}
	return folder, nil
}

// UseExecutableTempDir sets TMPDIR to a folder in the user's cache directory if programs cannot be executed in the
// current one, for example because /tmp is mounted noexec. The operator is built and run in TMPDIR.
func UseExecutableTempDir(stderr io.Writer) error {
	present := os.TempDir()
	err := runIn(present)
	if !errors.Is(err, fs.ErrPermission) {
		return nil // other errors are reported when a temporary file is created
	}
	cache, err := os.UserCacheDir()
	instead := filepath.Join(cache, "assay", "tmp")
	if err == nil {
		err = os.MkdirAll(instead, 0o700)
	}
	if err == nil {
		err = runIn(instead)
	}
	if err != nil {
		return fmt.Errorf("cannot execute programs in %s, and cannot use the cache directory instead (%w): set TMPDIR to a writable directory on a file system that is not mounted noexec", present, err)
	}
	fmt.Fprintf(stderr, "cannot execute programs in %s: using %s; set TMPDIR to choose another directory\n", present, instead)
	return os.Setenv("TMPDIR", instead)
}

func runIn(folder string) error {
	program, err := os.CreateTemp(folder, "assay-empty-")
	if err != nil {
		return nil
	}
	defer os.Remove(program.Name())
	_, err = program.WriteString("#!/bin/sh\n")
	if err := errors.Join(err, program.Chmod(0o700), program.Close()); err != nil {
		return err
	}
	return exec.Command(program.Name()).Run()
}
