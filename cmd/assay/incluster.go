package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/incluster"
	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
	"github.com/operator-assay/assay/harness/subject"
	"github.com/operator-assay/assay/harness/verdict"
)

type inClusterOptions struct {
	asked   bool
	shards  int
	image   string
	keepJob bool
}

// inPodFlag is set in the Pods of the Job. It makes the command use the programs that are already built into the
// image and write its result to the Pod's log.
const inPodFlag = "in-pod"

func (c *inClusterOptions) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&c.asked, "in-cluster", false, "run the shards as an Indexed Job in the cluster and the namespace of the kubeconfig's context; after an interruption the same command plays what is missing")
	flags.IntVar(&c.shards, "shards", 0, "into how many Pods --in-cluster splits the plans")
	flags.StringVar(&c.image, "image", "", "name under which --in-cluster pushes the image to a registry that the nodes reach, with your docker credentials; not needed on kind")
	flags.BoolVar(&c.keepJob, "keep-job", false, "leave the Job of --in-cluster in the cluster")
}

// checkInCluster rejects flags that cannot be combined with --in-cluster.
func (o *exploreOptions) checkInCluster() error {
	c := o.cluster
	switch {
	case !c.asked && (c.shards != 0 || c.image != "" || c.keepJob):
		return usagef("--shards, --image and --keep-job are for --in-cluster: add that, or drop them")
	case !c.asked:
		return nil
	case c.shards < 1:
		return usagef("--in-cluster: say with --shards into how many Pods the plans are split, such as --shards 8")
	case o.shard != "":
		return usagef("--shard is one part of the plans, and --in-cluster plays all: drop one of them")
	case len(o.plans) > 0 || o.check:
		return usagef("--in-cluster plays all plans, and --plan or --check leaves no others: drop one of them")
	case len(o.tests) > 0:
		return usagef("--test is a command of this machine, and a Pod of --in-cluster has nothing but the operator: drop one of them")
	case o.install == "-":
		return usagef("--in-cluster: no Pod reads this standard input: write the manifests to a file, and name that with --install")
	case runtime.GOOS != "linux":
		return usagef("--in-cluster puts this program into an image for Linux, and this is %s: run it on Linux", runtime.GOOS)
	}
	if _, err := name.NewTag(c.image); c.image != "" && err != nil {
		return usagef("--image=%s is no name of an image: name it as in registry.example.com/me/explore", c.image)
	}
	return nil
}

// runInCluster runs the shards as Pods and reports the merged result in the same way as a local run.
func (o *exploreOptions) runInCluster(command *cobra.Command, severities []verdict.Severity) error {
	ctx, progress := command.Context(), textOf(command)
	target, err := incluster.Connect()
	if err != nil {
		return usageError{err}
	}
	if o.cluster.image == "" && !target.CanLoad() {
		return usagef("--in-cluster: the kubeconfig's context is of no kind cluster, so the nodes need a registry: name an image in one that they reach with --image")
	}
	s, err := o.readStatic(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	controlPlane, err := ensureControlPlane(command, o.version, controlplane.Binaries...)
	if err != nil {
		return err
	}
	image, err := o.buildImage(ctx, s, controlPlane)
	if err != nil {
		return err
	}
	arguments := o.podArguments()
	kept, err := openShards(o.artifacts, o.cluster.shards, image, arguments, progress)
	if err != nil {
		return err
	}
	missing := kept.missing()
	if len(missing) < o.cluster.shards {
		fmt.Fprintln(progress, "note:", kept.note())
	}
	if len(missing) > 0 {
		reference, err := o.deliver(ctx, target, image, s.Name(), progress)
		if err != nil {
			return err
		}
		job := incluster.Job{
			Project: s.Name(), Image: reference, Arguments: withShards(arguments, missing, o.cluster.shards),
			Shards: missing, Of: o.cluster.shards, Keep: o.cluster.keepJob,
		}
		if err := target.Play(ctx, job, progress, kept.keep); err != nil {
			fmt.Fprintln(progress, "note:", kept.note())
			return err
		}
	}
	whole, err := kept.merge()
	if err != nil {
		return err
	}
	err = conclude(command, *whole, o.artifacts, severities)
	if _, isFindings := errors.AsType[findings](err); err == nil || isFindings {
		err = errors.Join(err, kept.remove())
	}
	return err
}

// readStatic reads the subject and builds its programs without cgo, because the image contains no shared libraries.
// It rejects scenarios with script steps, because the image contains no shell either.
func (o *exploreOptions) readStatic(ctx context.Context) (*subject.Subject, error) {
	if _, chosen := os.LookupEnv("CGO_ENABLED"); !chosen {
		if err := os.Setenv("CGO_ENABLED", "0"); err != nil {
			return nil, err
		}
	}
	s, err := o.readSubject(ctx)
	if err != nil {
		return nil, err
	}
	for _, of := range s.Catalogue().Scenarios {
		for _, step := range of.Steps {
			if scenarioyaml.IsScript(step) {
				s.Close()
				return nil, usagef("--in-cluster: %s has the step %s, and the image has no shell: leave the scenario out, or run without --in-cluster", of.Name, step.Name)
			}
		}
	}
	return s, nil
}

// podArguments returns the arguments that all Pods have in common. They contain the flags that describe the operator
// and the plans.
func (o *exploreOptions) podArguments() []string {
	arguments := append([]string{"--" + inPodFlag}, o.flags()...)
	arguments = append(arguments, "--seed", strconv.FormatUint(o.seed, 10), "--pairs", strconv.FormatUint(uint64(o.pairs), 10))
	if o.arguments != nil {
		arguments = append(append(arguments, "--"), o.arguments...)
	}
	return arguments
}

// withShards prepends the --shard flag. Each Pod picks its own shard from that list.
func withShards(arguments []string, shards []int, of int) []string {
	var numbers []string
	for _, shard := range shards {
		numbers = append(numbers, strconv.Itoa(shard))
	}
	return append([]string{fmt.Sprintf("--shard=%s/%d", strings.Join(numbers, ","), of)}, arguments...)
}

// leaveResult writes the result of a shard to the log of its Pod. Failed plans do not make the Pod fail.
func leaveResult(command *cobra.Command, exploration results.Exploration) error {
	if exploration.Interrupted {
		return errors.New("the shard was interrupted")
	}
	var text bytes.Buffer
	if err := exploration.Encode(&text); err != nil {
		return err
	}
	return incluster.WriteResult(command.OutOrStdout(), text.Bytes())
}
