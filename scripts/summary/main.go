// Command summary sums up, as Markdown, what the suites have left in _artifacts: each scenario on each tier,
// with its time, the requests that it cost and the fault plans that were tried on it. On GitHub Actions it
// goes onto the run's page, elsewhere to standard output.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/operator-assay/assay/scripts/results"
	"github.com/operator-assay/assay/test/harness/binaries"
)

const usage = `Usage: summary

Sums up _artifacts as Markdown.

Environment:
  K8S_VERSION          the version of Kubernetes that ran, default ` + binaries.DefaultVersion + `
  GITHUB_STEP_SUMMARY  the file that the summary is added to, default standard output
`

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := sumUp("_artifacts"); err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
}

func sumUp(dir string) error {
	version, err := binaries.ResolveVersion("")
	if err != nil {
		return err
	}
	all, err := results.Read(dir, time.Time{})
	if err != nil {
		return err
	}
	plans, err := results.ReadPlans(dir)
	if err != nil {
		return err
	}
	reports, err := written(dir)
	if err != nil {
		return err
	}
	out := io.WriteCloser(os.Stdout)
	if page := os.Getenv("GITHUB_STEP_SUMMARY"); page != "" {
		if out, err = os.OpenFile(page, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
			return err
		}
		defer out.Close()
	}
	_, err = fmt.Fprint(out, markdown(version, all, plans, reports))
	return err
}

// written are the reports that are Markdown already: how often tests fail, and what became of mutants.
func written(dir string) ([]string, error) {
	var reports []string
	for _, name := range []string{"flake/rates.md", "mutants/verdicts.md"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		reports = append(reports, string(text))
	}
	return reports, nil
}
