package cluster_test

import (
	"context"
	"fmt"
	"os"

	"github.com/operator-assay/assay/harness/cluster"
)

// Open returns a kind cluster if a Docker engine is available, and a KWOK cluster otherwise. This example is only
// compiled, because creating a cluster takes several seconds.
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
