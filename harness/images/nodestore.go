package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/process"
)

// importTimeout is the time limit for importing all images.
const importTimeout = 5 * time.Minute

// storeImages imports the images that a new cluster needs into the root's containerd store. containerd unpacks them
// when a cluster starts, because unpacking here would need more privileges.
func (b *nodeBuild) storeImages(ctx context.Context) error {
	pause, err := b.buildPause(ctx)
	if err != nil {
		return err
	}
	programs := []programImage{{name: sandboxImage, program: File{"/pause", pause}}}
	for _, name := range b.node.Images {
		program, _, _ := strings.Cut(path.Base(name), ":")
		if program == "pause" {
			continue // containerd uses sandboxImage
		}
		file, ok := b.node.Paths[program]
		if !ok {
			return fmt.Errorf("cannot build image %s, which kubeadm requires: unknown program %s", name, program)
		}
		image := programImage{name: name, program: File{"/usr/local/bin/" + program, file}}
		if program == "kube-proxy" {
			if _, err := process.Output(b.inside(ctx, nodeFile("kube-proxy.sh"))); err != nil {
				return err
			}
			if image.others, err = FilesBelow("/", filepath.Join(b.root, "kube-proxy")); err != nil {
				return err
			}
		}
		programs = append(programs, image)
	}
	archive := filepath.Join(b.work, "images.tar")
	if err := writeArchive(archive, programs); err != nil {
		return err
	}
	return errors.Join(b.importArchive(ctx, archive), os.Remove(archive), os.RemoveAll(filepath.Join(b.root, "kube-proxy")))
}

func (b *nodeBuild) buildPause(ctx context.Context) (program string, err error) {
	source, program := filepath.Join(b.work, "pause.go"), filepath.Join(b.work, "pause")
	if err := os.WriteFile(source, []byte(nodeFile("pause/main.go")), 0o644); err != nil {
		return "", err
	}
	build := process.Command(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, source)
	build.Dir = b.work
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	_, err = process.Output(build)
	return program, err
}

// importArchive imports images into the root's containerd store.
func (b *nodeBuild) importArchive(ctx context.Context, archive string) error {
	ctx, cancel := context.WithTimeout(ctx, importTimeout)
	defer cancel()
	script := isolated(ctx, "bash", "-s", "--", b.node.Paths["containerd"], b.node.Paths["ctr"], b.root, filepath.Join(b.work, "containerd"), archive)
	script.Stdin = strings.NewReader(nodeFile("import.sh"))
	_, err := process.Output(script)
	return err
}
