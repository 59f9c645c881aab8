package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/operator-assay/assay/test/harness/report/page"
	"github.com/operator-assay/assay/test/harness/report/results"
)

// writeReport leaves the results in a folder or, with an error, in a temporary one, so that they are not lost. It returns
// which; empty for neither.
func writeReport(folder string, exploration results.Exploration) (string, error) {
	err := page.WriteExploration(folder, exploration)
	if err == nil {
		return folder, nil
	}
	failed := fmt.Errorf("the report cannot be written: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	instead, err := os.MkdirTemp("", "assay-report-")
	if err != nil {
		return "", failed
	}
	if err := page.WriteExploration(instead, exploration); err != nil {
		_ = os.RemoveAll(instead)
		return "", failed
	}
	return instead, fmt.Errorf("%w: it is in %s instead", failed, instead)
}

// checkFolder rejects a folder in which nothing can be written, before minutes are spent on what is to be written. It makes
// none.
func checkFolder(folder string) error {
	info, err := os.Stat(folder)
	switch above := filepath.Dir(folder); {
	case errors.Is(err, fs.ErrNotExist) && above != folder:
		return checkFolder(above)
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
