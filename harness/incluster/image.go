package incluster

import (
	"compress/gzip"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/operator-assay/assay/harness/images"
)

// user runs the image's processes; the number is nobody's in particular, and not root's.
const user = 65532

// temporary is the one folder of a Pod that can be written to.
const temporary = "/tmp"

// File is a file of an image.
type File = images.File

// NewImage builds an image of layers, which runs entrypoint in a folder. It depends on nothing but the content, so that
// what has not changed is neither pushed nor loaded again. The sources are read whenever the image is.
func NewImage(workingFolder string, layers [][]File, env, entrypoint []string) (v1.Image, error) {
	var openers []tarball.Opener
	for _, files := range layers {
		openers = append(openers, func() (io.ReadCloser, error) { return images.ReadLayer(files), nil })
	}
	return images.NewImage(v1.Config{
		Entrypoint: entrypoint,
		Env:        append([]string{"HOME=" + temporary}, env...),
		User:       fmt.Sprintf("%d:%d", user, user),
		WorkingDir: workingFolder,
	}, gzip.BestSpeed, openers...)
}
