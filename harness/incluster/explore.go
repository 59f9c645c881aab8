package incluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

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
	Artifacts    string   // the report folder
	Shards       int
	// Image is the name under which the image is pushed to a registry. If it is empty, the image is loaded into the nodes.
	Image   string
	KeepJob bool
}

const shardsFolder = "shards"

// Explore runs the shards and returns the merged result. It stores the result of each shard as soon as it is complete.
// If Explore fails, the completed shards remain in the report folder, so that the user can run the others.
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
	folder := filepath.Join(e.Artifacts, shardsFolder)
	if err := os.RemoveAll(folder); err != nil {
		return nil, err
	}
	reference, err := c.deliver(ctx, e, image, progress)
	if err != nil {
		return nil, err
	}
	job := Job{
		Project: e.Subject.Name(), Image: reference, Arguments: append([]string{"--shard", strconv.Itoa(e.Shards)}, e.Arguments...),
		Shards: e.Shards, Keep: e.KeepJob,
	}
	var folders []string
	err = c.Play(ctx, job, progress, func(shard int, result []byte) error {
		folders = append(folders, filepath.Join(folder, strconv.Itoa(shard)))
		return results.WriteFile(filepath.Join(folders[len(folders)-1], results.ExplorationFile), result)
	})
	if err != nil && len(folders) > 0 {
		return nil, fmt.Errorf("%w\nthe completed shards are in %s: run each of the others with the same flags and --shard INDEX/%d, and then `assay report merge` with the directories of all shards", err, folder, e.Shards)
	}
	if err != nil {
		return nil, err
	}
	whole, err := results.MergeFolders(folders)
	if err != nil {
		return nil, err
	}
	return whole, os.RemoveAll(folder)
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
