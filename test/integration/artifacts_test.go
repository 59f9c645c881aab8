package integration

import (
	"context"
	"io"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"

	"github.com/operator-assay/assay/harness/artifacts"
	"github.com/operator-assay/assay/harness/controlplane"
)

const artifactsDir = "../../_artifacts/integration"

// keepArtifacts collects logs, objects and requests if the spec fails. It runs before any cleanup.
func keepArtifacts(plane *controlplane.ControlPlane, operator *operator, namespace string) {
	DeferOnFailure(func(ctx SpecContext) {
		processLog := func(name string) artifacts.Log { return artifacts.File(filepath.Join(plane.LogsDir, name)) }
		collector := artifacts.Collector{
			Dir:      artifactsDir,
			Config:   plane.Config,
			Recorder: operator.Requests,
			Logs: map[string]artifacts.Log{
				"kube-apiserver.log":          processLog("kube-apiserver.log"),
				"kube-controller-manager.log": processLog("kube-controller-manager.log"),
				"operator.log": func(_ context.Context, w io.Writer) error {
					_, err := w.Write(operator.Log.Contents())
					return err
				},
			},
		}
		folder, err := collector.Collect(ctx, CurrentSpecReport().FullText(), namespace)
		if absolute, failed := filepath.Abs(folder); failed == nil {
			folder = absolute
		}
		AddReportEntry("artifacts", folder, ReportEntryVisibilityFailureOrVerbose)
		if err != nil {
			AddReportEntry("evidence that could not be collected", err.Error())
		}
	})
}
