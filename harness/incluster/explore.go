package incluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"al.essio.dev/pkg/shellescape"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/apimachinery/pkg/util/sets"

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
	Arguments    []string // of `assay explore` for each shard, without --shard and --artifacts
	Artifacts    string   // the report folder
	Shards       int
	// Image is the registry tag to push the image to. If it is empty, the image is loaded onto the nodes.
	Image   string
	KeepJob bool
}

// InPodFlag is the name of the flag that is set in the Pods of the Job. The flag makes the command use the programs in
// the image and write its result to the Pod's log.
const InPodFlag = "in-pod"

// Explore runs the shards and returns the merged result. It writes each shard's result to the subfolder "shards" of the
// report folder as soon as it completes. If shards fail, the error contains a command that runs them on this machine.
func (c *Cluster) Explore(ctx context.Context, e Exploration, progress io.Writer) (*results.Exploration, error) {
	for _, of := range e.Subject.Catalogue().Scenarios {
		for _, step := range of.Steps {
			if scenarioyaml.IsScript(step) {
				return nil, InputError{fmt.Errorf("scenario %s has the step %s, but the image has no shell: remove the step, or explore without --in-cluster", of.Name, step.Name)}
			}
		}
	}
	image, err := e.buildImage(ctx)
	if err != nil {
		return nil, err
	}
	reference, err := c.deliver(ctx, e, image, progress)
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(e.shardFolder("")); err != nil {
		return nil, err
	}
	job := Job{
		Operator: e.Subject.Name(), Image: reference, Arguments: append([]string{"--" + InPodFlag, "--shard", strconv.Itoa(e.Shards)}, e.Arguments...),
		Shards: e.Shards, Keep: e.KeepJob,
	}
	missing, folders := sets.New[int](), make([]string, e.Shards)
	for i := range folders {
		missing.Insert(i + 1)
		folders[i] = e.shardFolder(strconv.Itoa(i + 1))
	}
	err = c.Play(ctx, job, progress, func(shard int, result []byte) error {
		if err := results.WriteFile(filepath.Join(folders[shard-1], results.ExplorationFile), result); err != nil {
			return err
		}
		missing.Delete(shard)
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, e.adviceFor(missing))
	}
	return results.MergeFolders(folders)
}

func (e Exploration) shardFolder(shard string) string {
	return filepath.Join(e.Artifacts, "shards", shard)
}

// adviceFor returns an error with a command that runs the missing shards. It returns nil if no shard is complete.
func (e Exploration) adviceFor(missing sets.Set[int]) error {
	if missing.Len() == e.Shards {
		return nil
	}
	var indexes []string
	for _, shard := range sets.List(missing) {
		indexes = append(indexes, strconv.Itoa(shard))
	}
	folder := shellescape.Quote(e.shardFolder(""))
	return fmt.Errorf("to run the missing shards on this machine and merge the results, run:\n"+
		"for i in %s; do assay explore --shard $i/%d --artifacts %s/$i %s; done; assay report merge --artifacts %s %[3]s/*",
		strings.Join(indexes, " "), e.Shards, folder, shellescape.QuoteCommand(e.Arguments), shellescape.Quote(e.Artifacts))
}

const localRepository = "assay.local/explore"

func (c *Cluster) deliver(ctx context.Context, e Exploration, image v1.Image, progress io.Writer) (string, error) {
	if e.Image != "" {
		fmt.Fprintf(progress, "pushing the image of %s to %s\n", e.Subject.Name(), e.Image)
		return Push(ctx, image, e.Image)
	}
	fmt.Fprintf(progress, "loading the image of %s onto the nodes\n", e.Subject.Name())
	return c.Load(ctx, image, localRepository)
}
