package page

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// CheckFolder returns an error if no file can be created in folder. Call it before an exploration starts, so that an
// exploration does not run for minutes before it fails. If folder does not exist, CheckFolder checks the nearest parent
// that does. It does not create any folders.
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
