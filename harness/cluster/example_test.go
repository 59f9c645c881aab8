package cluster_test

import (
	"context"
	"fmt"
	"os"

	"github.com/operator-assay/assay/harness/cluster"
)

// Where a Docker engine answers this is a cluster of kind, elsewhere one of kwok. It takes seconds, so it is compiled
// and not run.
func ExampleOpen() {
	options, err := cluster.FromEnvironment()
	if err != nil {
		fmt.Println(err)
		return
	}
	options.Progress = os.Stderr
	c, err := cluster.Open(context.Background(), options)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Provider, c.Version, c.Kubeconfig)
	if err := c.Close(context.Background(), false); err != nil {
		fmt.Println(err)
	}
}
