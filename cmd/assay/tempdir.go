package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// useExecutableTempDir sets TMPDIR to a folder in the user's cache folder if no program can run in the present one, such as
// a /tmp that is mounted noexec. Operators are built and run there.
func useExecutableTempDir(stderr io.Writer) error {
	present := os.TempDir()
	err := runIn(present)
	if !errors.Is(err, fs.ErrPermission) {
		return nil // whatever else is wrong is reported when a file is needed
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	instead := filepath.Join(cache, "assay", "tmp")
	if err := os.MkdirAll(instead, 0o700); err != nil {
		return err
	}
	if err := runIn(instead); err != nil {
		return fmt.Errorf("no program can run in %s or %s: set TMPDIR to a folder on a file system that is not mounted noexec: %w", present, instead, err)
	}
	fmt.Fprintf(stderr, "no program can run in %s: using %s; set TMPDIR to choose another folder\n", present, instead)
	return os.Setenv("TMPDIR", instead)
}

// runIn runs an empty program in a folder.
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
