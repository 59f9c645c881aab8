package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// publishedNodeImages are kind's node images, by the Kubernetes versions that the notes of kind v0.33.0's release
// give them for.
var publishedNodeImages = map[string]string{
	"v1.37.0": "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5",
	"v1.36.4": "kindest/node:v1.36.4@sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed",
	"v1.35.8": "kindest/node:v1.35.8@sha256:07b2536e30b803ed61d1677a79df6115f798ce64c80f9e22f6ed45afd09323c0",
}

// builderPackage is the command that makes a node image of K8S_VERSION and prints its name. The go command finds
// it in whatever module requires this one.
const builderPackage = "github.com/operator-assay/assay/scripts/node-image"

// nodeImage returns an image that the engine has: the one that is asked for, or kind's own, or one that
// is built here.
func (k *kind) nodeImage(ctx context.Context) (string, error) {
	if asked := k.options.NodeImage; asked != "" {
		if err := k.ensureImage(ctx, asked); err != nil {
			return "", fmt.Errorf("%s=%s cannot be had: %w", nodeImageVariable, asked, err)
		}
		return asked, nil
	}
	version := k.options.KubernetesVersion
	why := errors.New("kind has published none")
	if image, ok := publishedNodeImages[version]; ok {
		if why = k.ensureImage(ctx, image); why == nil {
			return image, nil
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	k.options.logf("no kindest/node:%s, so one that is built here: %s", version, why)
	image, err := k.build(ctx)
	if err != nil {
		return "", fmt.Errorf("no node image for Kubernetes %s: %w: set %s to one that you have", version, err, nodeImageVariable)
	}
	return image, nil
}

// ensureImage makes sure that the engine has an image.
func (k *kind) ensureImage(ctx context.Context, image string) error {
	if _, err := docker(ctx, "image", "inspect", image); err == nil {
		return nil
	}
	name, _, _ := strings.Cut(image, "@")
	k.options.logf("pulling %s", name)
	return pullImage(ctx, image)
}

// build runs the builder, which takes a moment if the engine has its image already, and minutes if not.
func (k *kind) build(ctx context.Context) (string, error) {
	program := filepath.Join(k.stateDir.dir, builderName)
	if said, err := exec.CommandContext(ctx, "go", "build", "-o", program, builderPackage).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, lastLine(string(said)))
	}
	command := exec.CommandContext(ctx, program)
	command.Env = append(os.Environ(), versionVariable+"="+k.options.KubernetesVersion)
	// An interrupt lets it tidy up; Ctrl-C at a terminal shall not be a second one.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = time.Minute
	said := &progress{to: k.options.Progress}
	command.Stderr = said
	out, err := command.Output()
	if err != nil && said.builderError != "" {
		err = errors.New(said.builderError)
	}
	return strings.TrimSpace(string(out)), err
}

// builderName is the builder's name, with which it begins the line that says why it failed.
const builderName = "node-image"

// progress passes on the lines that are written to it, except for the builder's complaint.
type progress struct {
	to           io.Writer
	line         []byte // that has no end yet
	builderError string
}

func (p *progress) Write(text []byte) (int, error) {
	p.line = append(p.line, text...)
	for {
		line, rest, ended := bytes.Cut(p.line, []byte("\n"))
		if !ended {
			return len(text), nil
		}
		if complaint, ok := strings.CutPrefix(string(line), builderName+": "); ok {
			p.builderError = complaint
		} else {
			fmt.Fprintf(p.to, "%s\n", line)
		}
		p.line = rest
	}
}
