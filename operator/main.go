// The operator keeps WebServers and Memcacheds as their specs ask. See package controller for how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"go.uber.org/zap/zapcore"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/operator-assay/assay/operator/controller"
)

// Leader election, and the questions that the metrics endpoint asks about who wants to read it.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=system,resources=leases,verbs=get;create;update
// +kubebuilder:rbac:groups="",namespace=system,resources=events,verbs=create
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// flags are what the command line decides.
type flags struct {
	metricsAddress          string
	probeAddress            string
	leaderElect             bool
	leaderElectionNamespace string
	workers                 int
}

func main() {
	f := addFlags(flag.CommandLine)
	flag.Parse()
	if err := run(ctrl.SetupSignalHandler(), *f, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func addFlags(set *flag.FlagSet) *flags {
	f := &flags{}
	set.StringVar(&f.metricsAddress, "metrics-bind-address", "0",
		"The address of the metrics endpoint, such as :8443. It serves HTTPS to those whom RBAC allows to get /metrics. 0 turns it off.")
	set.StringVar(&f.probeAddress, "health-probe-bind-address", ":8081", "The address of /healthz and /readyz. 0 turns them off.")
	set.BoolVar(&f.leaderElect, "leader-elect", false, "Let one of several operators work, and another take over when it goes.")
	set.StringVar(&f.leaderElectionNamespace, "leader-election-namespace", "",
		"The namespace of the leader's Lease. Inside a cluster, the Pod's own by default.")
	set.IntVar(&f.workers, "max-concurrent-reconciles", controller.DefaultWorkers, "How many resources of one kind are reconciled at a time.")
	return f
}

// run runs the operator until ctx ends or something fails.
func run(ctx context.Context, f flags, arguments []string) error {
	if len(arguments) > 0 {
		return fmt.Errorf("unexpected argument %q: the operator takes flags only, see --help", arguments[0])
	}
	if f.workers < 1 {
		return fmt.Errorf("--max-concurrent-reconciles is %d: it must be at least 1", f.workers)
	}
	// Logs are for machines, and an error's own words say more than a stack of the library's frames.
	ctrl.SetLogger(zap.New(zap.JSONEncoder(func(c *zapcore.EncoderConfig) { c.EncodeTime = zapcore.RFC3339NanoTimeEncoder }),
		zap.StacktraceLevel(zapcore.DPanicLevel)))

	restConfig, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("no cluster to work for: %w", err)
	}
	manager, err := newManager(restConfig, f, options(f))
	if err != nil {
		return err
	}
	return runManager(ctx, manager)
}

// runManager runs a manager until ctx ends. One that does not lead has nothing to finish, and while it waits for its caches
// it would not end by itself (https://github.com/kubernetes-sigs/controller-runtime/pull/3440).
func runManager(ctx context.Context, manager ctrl.Manager) error {
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case <-manager.Elected(): // at once, where nobody is elected
		return <-ended
	default:
		return nil
	}
}

// options are what the flags make of a manager.
func options(f flags) ctrl.Options {
	return ctrl.Options{
		Metrics: metricsserver.Options{
			BindAddress:    f.metricsAddress,
			SecureServing:  true,
			FilterProvider: filters.WithAuthenticationAndAuthorization,
		},
		HealthProbeBindAddress:        f.probeAddress,
		LeaderElection:                f.leaderElect,
		LeaderElectionID:              controller.Name,
		LeaderElectionNamespace:       f.leaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true, // the next leader need not wait for the Lease to expire
		GracefulShutdownTimeout:       ptr.To(controller.ShutdownTimeout),
		Controller:                    config.Controller{MaxConcurrentReconciles: f.workers},
	}
}

// newManager makes the manager, with its probes.
func newManager(restConfig *rest.Config, f flags, options ctrl.Options) (ctrl.Manager, error) {
	manager, err := controller.NewManager(restConfig, options)
	if err != nil {
		return nil, err
	}
	lease := client.ObjectKey{Namespace: leaseNamespace(f), Name: controller.Name}
	return manager, errors.Join(manager.AddHealthzCheck("healthz", healthz.Ping), manager.AddReadyzCheck("readyz", controller.Ready(manager, lease)))
}

// leaseNamespace is where the leader's Lease is: the flag's namespace or else the Pod's own.
func leaseNamespace(f flags) string {
	if f.leaderElectionNamespace != "" {
		return f.leaderElectionNamespace
	}
	own, _ := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace") // outside a Pod, the manager asks for the flag
	return string(own)
}
