package integration

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"

	"github.com/operator-assay/assay/test/harness/artifacts"
)

// evidenceDir is where failed specs leave their folders, seen from this one.
const evidenceDir = "../../_artifacts/integration"

// evidenceFolders are those that this run left.
var evidenceFolders []string

// leaveEvidence has the spec, should it fail, keep what explains it of the namespace before anything
// is torn down.
func leaveEvidence(namespace string) {
	DeferOnFailure(func(ctx SpecContext) {
		processLog := func(name string) artifacts.Log { return artifacts.File(filepath.Join(plane.LogsDir, name)) }
		collector := artifacts.Collector{
			Dir:      evidenceDir,
			Config:   plane.Config,
			Recorder: assay.Requests,
			Logs: map[string]artifacts.Log{
				"kube-apiserver.log":          processLog("kube-apiserver.log"),
				"kube-controller-manager.log": processLog("kube-controller-manager.log"),
				"operator.log": func(_ context.Context, w io.Writer) error {
					_, err := w.Write(assay.Log.Since(0))
					return err
				},
			},
		}
		folder, err := collector.Collect(ctx, CurrentSpecReport().FullText(), namespace)
		if absolute, failed := filepath.Abs(folder); failed == nil {
			folder = absolute
		}
		evidenceFolders = append(evidenceFolders, folder)
		if err != nil {
			AddReportEntry("evidence that could not be had", err.Error())
		}
	})
}

// printEvidence ends a run's output with where to look.
func printEvidence() {
	for _, folder := range evidenceFolders {
		fmt.Println("evidence", folder)
	}
}
