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

// Format is the number of the format of suites and benches, and explorationFormat that of explorations. A change that another version
// would misunderstand increments them.
const (
	Format            = 1
	explorationFormat = 2
)

// Head begins every results file.
type Head struct {
	Format int    `json:"format"`
	Kind   string `json:"kind"`
}

// The kinds of results files.
const (
	KindExploration = "exploration"
	KindBench       = "bench"
)

// KindOf is the kind of a results file.
func KindOf(path string) (string, error) {
	var head Head
	err := read(path, "", &head)
	return head.Kind, err
}

// write writes a file, whole or not at all, and creates its folder if needed.
func write(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return WriteFile(path, append(text, '\n'))
}

// WriteFile writes a file, whole or not at all, and creates its folder if needed.
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

// Read reads a file of a kind, which T is.
func Read[T Bench | Exploration](path, kind string) (*T, error) {
	value := new(T)
	return value, read(path, kind, value)
}

// read reads a file of this format and of a kind, or of any if it is empty, into value.
func read(path, kind string, value any) error {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		return fmt.Errorf("%s cannot be read: %w", path, err)
	case len(bytes.TrimSpace(text)) == 0:
		return fmt.Errorf("%s is empty: run the suite again", path)
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
		return fmt.Errorf("%s is truncated, or no results file: %w: run the suite again", path, err)
	case head.Format < 1 || head.Kind == "":
		return fmt.Errorf("%s is no results file: it does not begin with a format and a kind", path)
	case head.Format < format():
		return fmt.Errorf("%s has format %d of an older assay, and this version reads format %d: run it again", path, head.Format, format())
	case head.Format > format():
		return fmt.Errorf("%s has format %d, and this version reads format %d: use a newer assay", path, head.Format, format())
	case kind != "" && head.Kind != kind:
		return fmt.Errorf("%s is no results file of this kind: it holds a %s", path, head.Kind)
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("%s is no results file: %w", path, err)
	}
	return nil
}
