package page

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operator-assay/assay/harness/report/results"
)

// ReadFolders reads what suites have left in folders, and in the folders in them. The page is for the first folder:
// links lead from there. baseline is a folder with the results of a previous run, of which suites of the same folder
// are compared; empty for none.
func ReadFolders(folders []string, baseline string) (Content, error) {
	var c Content
	for _, folder := range folders {
		below, err := os.ReadDir(folder)
		if err != nil {
			return c, fmt.Errorf("%w: run tests first, or name the folder that they have left", err)
		}
		dirs := []string{folder}
		for _, entry := range below {
			if entry.IsDir() {
				dirs = append(dirs, filepath.Join(folder, entry.Name()))
			}
		}
		for _, dir := range dirs {
			if err := c.read(dir, folders[0], folder, baseline); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// WriteFolder writes the page of what a suite has left in its folder.
func WriteFolder(dir string) error {
	content, err := ReadFolders([]string{dir}, "")
	if err != nil {
		return err
	}
	return content.Write(filepath.Join(dir, File))
}

// read adds what a suite has left in its folder.
func (c *Content) read(dir, from, root, baseline string) error {
	s, err := readSuite(dir)
	if err != nil {
		return err
	}
	if s != nil {
		link, err := filepath.Rel(from, dir)
		if err != nil {
			return err
		}
		shown := Suite{Suite: s, Folder: filepath.ToSlash(link)}
		if baseline != "" {
			below, err := filepath.Rel(root, dir)
			if err != nil {
				return err
			}
			if shown.Baseline, err = readSuite(filepath.Join(baseline, below)); err != nil {
				return err
			}
		}
		c.Suites = append(c.Suites, shown)
	}
	file := filepath.Join(dir, results.ExplorationFile)
	switch kind, err := results.KindOf(file); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case kind == results.KindBench:
		b, err := results.Read[results.Bench](file, results.KindBench)
		c.Benches = append(c.Benches, b)
		return err
	default:
		e, err := results.Read[results.Exploration](file, results.KindExploration)
		c.Explorations = append(c.Explorations, e)
		return err
	}
}

// readSuite reads a suite's results; nil if there are none.
func readSuite(dir string) (*results.Suite, error) {
	s, err := results.Read[results.Suite](filepath.Join(dir, results.SuiteFile), results.KindSuite)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return s, err
}
