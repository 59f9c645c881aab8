package main

import (
	"errors"
	"os"
	"path/filepath"
)

// artifacts is where jobs leave results and evidence, in these folders.
const artifacts = "_artifacts"

var left = []string{"integration", "faults", "e2e-*"}

// setAside moves what was left to a folder of its own, which it returns; it is "" if nothing was. A machine of
// GitHub's knows one job; here each would sum up the results of those before it, and overwrite their evidence.
func setAside(name string) (string, error) {
	var found []string
	for _, pattern := range left {
		folders, err := filepath.Glob(filepath.Join(artifacts, pattern))
		if err != nil {
			return "", err
		}
		found = append(found, folders...)
	}
	if len(found) == 0 {
		return "", nil
	}
	aside := filepath.Join(artifacts, "ci", name)
	if err := errors.Join(os.RemoveAll(aside), os.MkdirAll(aside, 0o755)); err != nil {
		return "", err
	}
	for _, folder := range found {
		if err := os.Rename(folder, filepath.Join(aside, filepath.Base(folder))); err != nil {
			return "", err
		}
	}
	return aside, nil
}
