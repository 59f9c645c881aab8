package bench

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operator-assay/assay/harness/report"
)

// TestBench measures the operator. BENCH_N sets the numbers of resources; without it, the test is skipped.
func TestBench(t *testing.T) {
	if os.Getenv("BENCH_N") == "" {
		t.Skip("`make bench` measures the operator, as does BENCH_N=100")
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// Discard the logs of libraries.
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())

	reporter := report.New(os.Stdout)
	s, err := settings()
	noError(t, err)
	measured, err := run(ctx, s, reporter)
	noError(t, err)
	table(os.Stdout, measured)
	for _, over := range measured.Exceeded {
		t.Error(over)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
