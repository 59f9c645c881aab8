// Package faults_test tests that the operator reaches the same final state with and without faults. It runs the
// scenario catalog under every fault type, compares changed resources with fresh ones, and performs random sequences of
// actions.
package faults_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/zap/zapcore"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/go-logr/logr"

	"github.com/operator-assay/assay/harness/artifacts"
	"github.com/operator-assay/assay/harness/controlplane"
	operatorconfig "github.com/operator-assay/assay/operator/config"
	"github.com/operator-assay/assay/operator/controller"
)

// The tests share one control plane and one operator identity.
var (
	plane    *controlplane.ControlPlane
	identity *rest.Config
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		if testing.Short() {
			return 0 // every test needs a control plane
		}
		_ = flag.Set("test.parallel", "10") // the tests spend about half of their time waiting
		// Discard the library logs, because they contain a line for every failed request.
		klog.SetLogger(logr.Discard())
		ctrl.SetLogger(logr.Discard())
		ctx := context.Background()
		var err error
		plane, err = controlplane.Start(ctx, controlplane.Options{
			CRDs:   []string{"../../operator/config/crd/bases"},
			Scheme: controller.Scheme(),
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() {
			if err := plane.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
		if identity, err = plane.User(ctx, controller.Name, operatorconfig.Role); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		code := m.Run()
		if code != 0 {
			saveLogs(ctx)
		}
		return code
	}())
}

func saveLogs(ctx context.Context) {
	collector := artifacts.Collector{Dir: artifactsDir, Logs: map[string]artifacts.Log{}}
	for _, name := range []string{"kube-apiserver.log", "kube-controller-manager.log"} {
		collector.Logs[name] = artifacts.File(filepath.Join(plane.LogsDir, name))
	}
	folder, err := collector.Collect(ctx, "control plane", "")
	absolute, failed := filepath.Abs(folder)
	if err := errors.Join(err, failed); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	fmt.Println("artifacts  ", absolute)
}

func runInstance(ctx context.Context, _ string, cfg *rest.Config, log io.Writer) error {
	manager, err := controller.NewManager(cfg, ctrl.Options{
		Logger:  zap.New(zap.WriteTo(log), zap.StacktraceLevel(zapcore.DPanicLevel)),
		Metrics: metricsserver.Options{BindAddress: "0"},
		// Controller names must be unique within a process, but this process runs many operators.
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return err
	}
	return runManager(ctx, manager)
}
