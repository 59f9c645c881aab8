package incluster

import (
	"compress/gzip"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/operator-assay/assay/harness/images"
)

const user = 65532

// temporary is the only writable directory in a Pod.
const temporary = "/tmp"

// File is a file in an image layer.
type File = images.File

// NewImage builds an image from layers. It does not read the files until the image is read. The image is reproducible,
// so unchanged images and layers are not pushed or loaded again.
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
