package page

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operator-assay/assay/harness/results"
)

// ReadFolders reads the explorations in the given directories and their direct subdirectories.
func ReadFolders(folders []string) (Content, error) {
	var c Content
	for _, folder := range folders {
		below, err := os.ReadDir(folder)
		if err != nil {
			return c, fmt.Errorf("%w: run `assay explore` first, or pass the directory with the results", err)
		}
		dirs := []string{folder}
		for _, entry := range below {
			if entry.IsDir() {
				dirs = append(dirs, filepath.Join(folder, entry.Name()))
			}
		}
		for _, dir := range dirs {
			if err := c.read(filepath.Join(dir, results.ExplorationFile)); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// read adds the exploration in a file. It ignores a missing file.
func (c *Content) read(file string) error {
	e, err := results.ReadExploration(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	c.Explorations = append(c.Explorations, e)
	return err
}

// CheckFolder returns an error if no file can be created in folder or, if it does not exist, in the nearest parent that
// does. Call it before an exploration, so that the exploration does not run for minutes before it fails.
func CheckFolder(folder string) error {
	info, err := os.Stat(folder)
	switch above := filepath.Dir(folder); {
	case errors.Is(err, fs.ErrNotExist) && above != folder:
		return CheckFolder(above)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a file", folder)
	}
	probe, err := os.CreateTemp(folder, ".assay-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}
