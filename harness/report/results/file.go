package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Format versions of suites and benchmarks (Format) and of explorations. Incompatible changes must increment them.
const (
	Format            = 1
	explorationFormat = 3
)

// Head contains the common fields of all results files.
type Head struct {
	Format int    `json:"format"`
	Kind   string `json:"kind"`
}

// Kinds of results files.
const (
	KindExploration = "exploration"
	KindBench       = "bench"
)

// KindOf returns the kind of a results file.
func KindOf(path string) (string, error) {
	var head Head
	err := read(path, "", &head)
	return head.Kind, err
}

func write(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return WriteFile(path, append(text, '\n'))
}

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
	if err = errors.Join(err, half.Chmod(0o644), half.Close()); err == nil {
		err = os.Rename(half.Name(), path)
	}
	if err != nil {
		_ = os.Remove(half.Name())
	}
	return err
}

// ReadExploration reads the results of an exploration.
func ReadExploration(path string) (*Exploration, error) {
	value := &Exploration{}
	return value, read(path, KindExploration, value)
}

// read decodes a results file into value. It checks the format version and, unless kind is empty, the kind.
func read(path, kind string, value any) error {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: name a directory with results", err)
	case err != nil:
		return fmt.Errorf("cannot read %s: %w", path, err)
	case len(bytes.TrimSpace(text)) == 0:
		return fmt.Errorf("%s is empty: rerun the command that wrote it", path)
	}
	var head Head
	format := func() int {
		if head.Kind == KindExploration {
			return explorationFormat
		}
		return Format
	}
	switch err := json.Unmarshal(text, &head); {
	case err != nil:
		return fmt.Errorf("%s is truncated or not a results file (%w): rerun the command that wrote it", path, err)
	case head.Format < 1 || head.Kind == "":
		return fmt.Errorf("%s is not a results file: it has no format and kind", path)
	case head.Format < format():
		return fmt.Errorf("%s has format %d, but this version of assay reads format %d: rerun the command that wrote it", path, head.Format, format())
	case head.Format > format():
		return fmt.Errorf("%s has format %d, but this version of assay reads format %d: use a newer version", path, head.Format, format())
	case kind != "" && head.Kind != kind:
		return fmt.Errorf("%s contains %q, want %q", path, head.Kind, kind)
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("%s is not a valid results file: %w", path, err)
	}
	return nil
}
