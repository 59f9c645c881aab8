package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// format is the version of the file format. Increment it for incompatible changes.
const format = 3

// WriteFile atomically writes a file. It creates the directory if needed.
func WriteFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	half, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = half.Write(text)
	_ = half.Chmod(0o644) // some file systems do not support it
	if err = errors.Join(err, half.Close()); err == nil {
		err = os.Rename(half.Name(), path)
	}
	if err != nil {
		_ = os.Remove(half.Name())
	}
	return err
}

// ReadExploration reads the results of an exploration.
func ReadExploration(path string) (*Exploration, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: pass a readable directory with results of assay explore", err)
	}
	var head struct{ Format int }
	switch err := json.Unmarshal(text, &head); {
	case err != nil:
		return nil, fmt.Errorf("%s is truncated or not a results file (%w): rerun the command that wrote it", path, err)
	case head.Format == 0:
		return nil, fmt.Errorf("%s is not a results file of assay explore: pass another directory", path)
	case head.Format != format:
		return nil, fmt.Errorf("%s has format %d, but this version of assay reads format %d: rerun the command that wrote it, or use its version of assay", path, head.Format, format)
	}
	e := &Exploration{}
	if err := json.Unmarshal(text, e); err != nil {
		return nil, fmt.Errorf("%s is not a valid results file: %w", path, err)
	}
	return e, nil
}

// Find returns the files with the given name in the given directories and their direct subdirectories.
func Find(dirs []string, name string) (files []string, err error) {
	for _, dir := range dirs {
		below, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("%w: run a suite or `assay explore` first, or pass the directory of its results", err)
		}
		candidates := []string{filepath.Join(dir, name)}
		for _, entry := range below {
			candidates = append(candidates, filepath.Join(dir, entry.Name(), name))
		}
		for _, file := range candidates {
			if _, err := os.Stat(file); err == nil {
				files = append(files, file)
			} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				return nil, err
			}
		}
	}
	return files, nil
}
