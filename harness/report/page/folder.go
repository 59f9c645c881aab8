package page

import (
	"errors"
	"os"

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

// CheckFolder creates folder if needed, and returns an error if no file can be created in it. Call it before an
// exploration to detect the error early.
func CheckFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	probe, err := os.CreateTemp(folder, ".assay-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}
