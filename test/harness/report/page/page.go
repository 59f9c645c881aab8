package page

import "github.com/operator-assay/assay/test/harness/report/results"

// File is the page's name.
const File = "report.html"

// WriteExploration leaves an exploration in a folder: its results, and the page that shows them.
func WriteExploration(dir string, e results.Exploration) error {
	return e.WriteFiles(dir)
}
