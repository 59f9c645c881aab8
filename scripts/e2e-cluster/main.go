// Command e2e-cluster makes the cluster that end-to-end tests run on, and keeps it, so that the tests
// start at once; and it deletes it. It is what `make e2e-up` and `make e2e-down` run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/operator-assay/assay/test/harness/binaries"
	"github.com/operator-assay/assay/test/harness/cluster"
	"github.com/operator-assay/assay/test/harness/report"
)

const usage = `Usage: e2e-cluster up|down

up makes a cluster that stays, or goes to the one that was kept, and prints the line by which a
shell uses it. down deletes it. Progress goes to standard error.

Environment:
  E2E_PROVIDER    auto, kind, kwok or existing; auto, the default, is kind where a Docker engine
                  answers, else kwok
  E2E_CLUSTER     the cluster's name, default assay
  E2E_CONTEXT     context of the kubeconfig that an existing cluster is reached by
  E2E_NODES       how many nodes, default 1 on kind and 2 on kwok
  E2E_NODE_IMAGE  image of kind's nodes, default kindest/node, or one that is built here
  K8S_VERSION     version of Kubernetes on kind and kwok, default ` + binaries.DefaultVersion + `
  XDG_CACHE_HOME  where clusters are kept track of on Linux, default ~/.cache
`

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	act := map[string]func(context.Context, cluster.Options, *report.Report) error{"up": up, "down": down}[flag.Arg(0)]
	if flag.NArg() != 1 || act == nil {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	told := report.New(os.Stderr)
	options, err := cluster.FromEnvironment()
	if err == nil {
		options.Progress = told
		err = act(ctx, options, told)
	}
	stop()
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted; nothing half made is left")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e-cluster:", err)
		os.Exit(1)
	}
}

func up(ctx context.Context, options cluster.Options, told *report.Report) error {
	begin := time.Now()
	provider, reason, err := cluster.Choose(ctx, string(options.Provider))
	if err != nil {
		return err
	}
	fmt.Fprintf(told, "%-10s %s, %s\n", "cluster", provider, reason)
	options.Provider = provider
	c, err := cluster.Open(ctx, options)
	if err != nil {
		return err
	}
	state := "ready"
	if c.Reused {
		state = "kept from before, ready"
	}
	told.Phase("cluster", time.Since(begin), "%s %s", c.Version, state)
	if err := c.Close(ctx, true); err != nil {
		return err
	}
	fmt.Println("export KUBECONFIG=" + c.Kubeconfig)
	return nil
}

func down(ctx context.Context, options cluster.Options, _ *report.Report) error {
	return cluster.Delete(ctx, options)
}
