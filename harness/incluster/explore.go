package incluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
	"github.com/operator-assay/assay/harness/subject"
)

// InputError is returned for errors in the project or in the options.
type InputError struct{ error }

// Exploration describes an exploration whose shards run in the Pods of a Job.
type Exploration struct {
	Subject      *subject.Subject
	ControlPlane string   // the folder containing the control-plane binaries
	Files        []string // files and folders that the arguments refer to
	Arguments    []string // of `assay explore` in each Pod, without --shard
	Artifacts    string   // the report folder; it also stores the results of completed shards
	Shards       int
	// Image is the name under which the image is pushed to a registry. If it is empty, the image is loaded into the nodes.
	Image   string
	KeepJob bool
}

// Explore runs the shards that were not completed by an earlier run of the same exploration, and returns the merged
// result. Call Forget after the result has been written.
func (c *Cluster) Explore(ctx context.Context, e Exploration, progress io.Writer) (*results.Exploration, error) {
	for _, of := range e.Subject.Catalogue().Scenarios {
		for _, step := range of.Steps {
			if scenarioyaml.IsScript(step) {
				return nil, InputError{fmt.Errorf("scenario %s has the step %s, but the image has no shell: remove the step, or explore outside of the cluster", of.Name, step.Name)}
			}
		}
	}
	image, err := e.buildImage(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := openShards(e.Artifacts, e.Shards, image, e.Arguments, progress)
	if err != nil {
		return nil, err
	}
	missing := kept.missing()
	if len(missing) < e.Shards {
		fmt.Fprintf(progress, "note: %d of %d shards are already complete\n", e.Shards-len(missing), e.Shards)
	}
	if len(missing) > 0 {
		reference, err := c.deliver(ctx, e, image, progress)
		if err != nil {
			return nil, err
		}
		job := Job{
			Project: e.Subject.Name(), Image: reference, Arguments: withShards(e.Arguments, missing, e.Shards),
			Shards: missing, Of: e.Shards, Keep: e.KeepJob,
		}
		if err := c.Play(ctx, job, progress, kept.keep); err != nil {
			fmt.Fprintf(progress, "note: %d of %d shards are complete: run the same command again to run the others\n", len(kept.have), e.Shards)
			return nil, err
		}
	}
	return kept.merge()
}

// Forget removes the stored shard results.
func (e Exploration) Forget() error { return os.RemoveAll(filepath.Join(e.Artifacts, shardsFolder)) }

// withShards prepends the --shard flag. Each Pod picks its own shard from that list.
func withShards(arguments []string, shards []int, of int) []string {
	var numbers []string
	for _, shard := range shards {
		numbers = append(numbers, strconv.Itoa(shard))
	}
	return append([]string{fmt.Sprintf("--shard=%s/%d", strings.Join(numbers, ","), of)}, arguments...)
}

const localRepository = "assay.local/explore"

// deliver pushes the image to a registry or loads it into the nodes. It returns the name that Pods use for the image.
func (c *Cluster) deliver(ctx context.Context, e Exploration, image v1.Image, progress io.Writer) (string, error) {
	if e.Image != "" {
		fmt.Fprintf(progress, "pushing the image of %s to %s\n", e.Subject.Name(), e.Image)
		return Push(ctx, image, e.Image)
	}
	fmt.Fprintf(progress, "loading the image of %s into the nodes\n", e.Subject.Name())
	return c.Load(ctx, image, localRepository)
}
