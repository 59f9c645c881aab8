package page

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/operator-assay/assay/harness/report/results"
)

// WriteReport writes the results to folder. If that fails, it writes them to a temporary folder instead and returns
// an error as well. It returns the folder that was used, or an empty string if both attempts failed.
func WriteReport(folder string, exploration results.Exploration) (string, error) {
	err := WriteExploration(folder, exploration)
	if err == nil {
		return folder, nil
	}
	failed := fmt.Errorf("the report cannot be written: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	instead, err := os.MkdirTemp("", "assay-report-")
	if err != nil {
		return "", failed
	}
	if err := WriteExploration(instead, exploration); err != nil {
		_ = os.RemoveAll(instead)
		return "", failed
	}
	return instead, fmt.Errorf("%w: it is in %s instead", failed, instead)
}

// CheckFolder returns an error if no file can be created in folder. Call it before an exploration starts, so that the
// exploration does not run for minutes before the error is found. If folder does not exist, CheckFolder
// checks the nearest parent that does. It does not create any folders.
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

// Open opens a page in the browser.
func Open(path string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("%s is not installed: open %s in a browser", program, path)
	}
	return exec.Command(program, path).Start()
}
