package page

import (
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

// CheckFolder creates folder if needed, and returns an error if no file can be created in it. Call it before an
// exploration to detect the error early.
func CheckFolder(folder string) error {
	probe := filepath.Join(folder, ".assay")
	if err := results.WriteFile(probe, nil); err != nil {
		return err
	}
	return os.Remove(probe)
}
