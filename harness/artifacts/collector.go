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

// collectTimeout is the timeout of Collect. Collect must return even if the cluster does not respond.
const collectTimeout = 30 * time.Second

// Collector collects artifacts. All fields except Dir are optional.
type Collector struct {
	// Dir contains one directory for each failed test.
	Dir string
	// Config is used to collect objects/ and events.txt from the cluster.
	Config *rest.Config
	// Recorder holds the operator's requests, which Collect writes to requests.log.
	Recorder *record.Recorder
	// Logs holds additional log files, keyed by file name, for example "operator.log" or "kube-apiserver.log".
	Logs map[string]Log
}

// Log writes the content of a log to w.
type Log func(ctx context.Context, w io.Writer) error

// Collect writes a namespace's artifacts to a new directory named after the test and returns the path of that
// directory. It never reuses an existing directory.
//
// If some artifacts cannot be collected, Collect continues with the others. It returns the errors and writes them to
// errors.txt. Collect ignores the cancellation of ctx, so that it works after a test timeout. It takes at most 30s.
func (c *Collector) Collect(ctx context.Context, test, namespace string) (dir string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), collectTimeout)
	defer cancel()
	if dir, err = newFolder(c.Dir, test); err != nil {
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
