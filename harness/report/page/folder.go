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
func ReadFolders(folders []string) (all []*results.Exploration, err error) {
	files, err := results.Find(folders, results.ExplorationFile)
	for _, file := range files {
		e, err := results.ReadExploration(file)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, err
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
