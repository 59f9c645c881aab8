package artifacts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/record"
)

// defaultDir is the folder of all artifacts, relative to the test's own.
const defaultDir = "_artifacts"

// collectTimeout bounds a collection. Artifacts matter most when something hangs.
const collectTimeout = 30 * time.Second

// Collector knows where to find what explains a failure. Parts that are not set are left out.
type Collector struct {
	// Dir holds a folder for each failed test; defaultDir if empty.
	Dir string
	// Config reads the cluster: objects/ and events.txt.
	Config *rest.Config
	// Recorder has recorded the operator's requests: requests.log.
	Recorder *record.Recorder
	// Logs are further files, by their names: "operator.log", "kube-apiserver.log".
	Logs map[string]Log
}

// Log writes a log to w.
type Log func(ctx context.Context, w io.Writer) error

// Collect writes what there is about a namespace to a new folder, named after the test, and returns its path. A test
// that fails twice, or shares its name with another, gets a folder each time.
//
// A part that cannot be collected does not prevent the others: it is named in errors.txt and in the returned error.
// Collect also works when ctx has ended, since many tests fail by a timeout; it takes 30 s at most.
func (c *Collector) Collect(ctx context.Context, test, namespace string) (dir string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), collectTimeout)
	defer cancel()
	if dir, err = newFolder(cmp.Or(c.Dir, defaultDir), test); err != nil {
		return "", err
	}
	var errs []error
	if c.Config != nil {
		errs = append(errs, writeObjects(ctx, c.Config, namespace, filepath.Join(dir, "objects")))
		errs = append(errs, writeFile(ctx, filepath.Join(dir, "events.txt"), events(c.Config, namespace)))
	}
	if c.Recorder != nil {
		errs = append(errs, writeFile(ctx, filepath.Join(dir, "requests.log"), requests(c.Recorder, namespace)))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Logs)) {
		errs = append(errs, writeFile(ctx, filepath.Join(dir, name), c.Logs[name]))
	}
	if err = errors.Join(errs...); err != nil {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "errors.txt"), []byte(err.Error()+"\n"), 0o644))
	}
	return dir, err
}

var unsafeChars = regexp.MustCompile(`[^a-z0-9.]+`)

// newFolder creates a new folder that is named after the test.
func newFolder(base, test string) (string, error) {
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", err
	}
	name := unsafeChars.ReplaceAllString(strings.ToLower(test), "-")
	name = cmp.Or(strings.Trim(name[:min(len(name), 120)], "-."), "test")
	dir := filepath.Join(base, name)
	for again := 2; ; again++ {
		err := os.Mkdir(dir, 0o755)
		if !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
		dir = filepath.Join(base, fmt.Sprintf("%s-%d", name, again))
	}
}

func writeFile(ctx context.Context, path string, write Log) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(write(ctx, file), file.Close()); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}
