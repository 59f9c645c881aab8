package main

import (
	"os"
	"runtime"
	"strconv"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operator-assay/assay/harness/incluster"
)

type inClusterOptions struct {
	asked   bool
	shards  int
	image   string
	keepJob bool
}

func (c *inClusterOptions) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&c.asked, "in-cluster", false, "run the shards as an Indexed Job in the cluster and namespace of the current kubeconfig context")
	flags.IntVar(&c.shards, "shards", 0, "number of Pods for --in-cluster")
	flags.StringVar(&c.image, "image", "", "image name in a registry that the nodes can reach; --in-cluster pushes the image with your Docker credentials; not needed on kind")
	flags.BoolVar(&c.keepJob, "keep-job", false, "keep the Job of --in-cluster after it finishes")
}

func (o *exploreOptions) checkInCluster() error {
	c := o.cluster
	switch {
	case !c.asked && (c.shards != 0 || c.image != "" || c.keepJob):
		return usagef("--shards, --image and --keep-job require --in-cluster: add it, or remove them")
	case !c.asked:
		return nil
	case c.shards < 1:
		return usagef("--in-cluster: set --shards to the number of Pods, such as --shards 8")
	case o.install == "-":
		return usagef("--in-cluster: a Pod cannot read the standard input: write the manifests to a file and set --install to its name")
	case runtime.GOOS != "linux":
		return usagef("--in-cluster puts this program into an image for Linux, but this is %s: run it on Linux", runtime.GOOS)
	}
	if _, err := name.NewTag(c.image); c.image != "" && err != nil {
		return usagef("--image=%s is not a valid image name: set it to a name such as registry.example.com/me/explore", c.image)
	}
	return nil
}

// runInCluster runs the shards as Pods and reports the merged result in the same way as a local run.
func (o *exploreOptions) runInCluster(command *cobra.Command) error {
	ctx := command.Context()
	target, err := incluster.Connect()
	if err != nil {
		return usageError{err}
	}
	if o.cluster.image == "" && !target.CanLoad() {
		return usagef("--in-cluster: the kubeconfig's context is not a kind cluster: set --image to a name in a registry that the nodes can reach")
	}
	if _, chosen := os.LookupEnv("CGO_ENABLED"); !chosen { // the image contains no shared libraries
		if err := os.Setenv("CGO_ENABLED", "0"); err != nil {
			return err
		}
	}
	s, err := o.readSubject(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := o.build(command, s, o.text(command)); err != nil { // also sets KUBEBUILDER_ASSETS
		return err
	}
	e := incluster.Exploration{
		Subject: s, ControlPlane: os.Getenv("KUBEBUILDER_ASSETS"), Files: append([]string{o.scenarios}, o.roles...), Arguments: o.shardArguments(),
		Artifacts: o.artifacts, Shards: o.cluster.shards, Image: o.cluster.image, KeepJob: o.cluster.keepJob,
	}
	whole, err := target.Explore(ctx, e, o.text(command))
	if err != nil {
		return err
	}
	return o.conclude(command, *whole)
}

// shardArguments returns the command-line arguments that are the same for all shards.
func (o *exploreOptions) shardArguments() []string {
	arguments := append(o.flags(), "--seed", strconv.FormatUint(o.seed, 10), "--pairs", strconv.FormatUint(uint64(o.pairs), 10))
	if o.arguments != nil {
		arguments = append(append(arguments, "--"), o.arguments...)
	}
	return arguments
}
