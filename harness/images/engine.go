package images

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/distribution/reference"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/terminal"
)

// answerTimeout limits how long an engine or a registry may take to respond, because some firewalls silently drop
// packets. A download may take longer.
const answerTimeout = 10 * time.Second

// Engine is a Docker Engine client.
type Engine struct {
	arch          string // GOARCH of its images
	apiVersion    string
	answerTimeout time.Duration
	log           *terminal.Log
	progress      io.Writer
}

// Connect returns the Engine that the docker command uses. Long operations are reported to progress, which may be nil.
// The error is a single line that tells users what to do.
func Connect(ctx context.Context, progress io.Writer) (*Engine, error) {
	e := &Engine{answerTimeout: answerTimeout, log: terminal.NewLog("images", progress), progress: progress}
	bounded, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	version, err := e.Run(bounded, "version", "--format", "{{.Server.Os}} {{.Server.Arch}} {{.Client.APIVersion}}")
	if bounded.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("the Docker engine did not respond within %s: run `docker version` for details", answerTimeout)
	}
	if err != nil {
		return nil, err
	}
	var system string
	if _, err := fmt.Sscan(version, &system, &e.arch, &e.apiVersion); err != nil || system != "linux" {
		return nil, fmt.Errorf("the Docker engine does not run Linux containers, it reports %q: switch it to Linux containers", version)
	}
	return e, nil
}

// Pull pulls the images that the engine does not have. The error names the registry that failed.
func (e *Engine) Pull(ctx context.Context, refs ...string) error {
	for _, ref := range refs {
		name, err := reference.ParseNormalizedNamed(ref)
		if err != nil {
			return fmt.Errorf("invalid image name %q: %w", ref, err)
		}
		if arch, err := e.inspect(ctx, ref, "{{.Architecture}}"); err == nil && arch == e.arch {
			continue
		}
		withoutDigest, _, _ := strings.Cut(ref, "@")
		e.log.Printf("pulling %s", withoutDigest)
		if err := e.pull(ctx, ref); err != nil {
			return fmt.Errorf("%s does not serve %s: %w", reference.Domain(name), ref, err)
		}
	}
	return nil
}

func (e *Engine) pull(ctx context.Context, ref string) error {
	answering, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(e.answerTimeout, cancel)
	// docker prints nothing until the registry has sent the manifest.
	answered := process.WriterFunc(func(data []byte) (int, error) { silence.Stop(); return len(data), nil })
	_, err := e.docker(answering, answered, "pull", "--platform", "linux/"+e.arch, ref)
	if answering.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("no response within %s", e.answerTimeout)
	}
	return err
}

// Save writes images to an archive. The archive contains only the engine's platform, because a node cannot load an
// image with platforms that were not pulled.
func (e *Engine) Save(ctx context.Context, path string, refs ...string) error {
	args := []string{"save", "--output", path}
	var minor int
	// Older engines do not support the flag. They store only one platform of an image by default.
	if _, err := fmt.Sscanf(e.apiVersion, "1.%d", &minor); err == nil && minor >= 48 {
		args = append(args, "--platform", "linux/"+e.arch)
	}
	_, err := e.Run(ctx, append(args, refs...)...)
	return err
}

const recipeLabel = "assay.recipe"

// Build builds an image from the Dockerfile in dir. It does nothing if the engine already has an image built from the
// same files.
func (e *Engine) Build(ctx context.Context, ref, dir string) error {
	recipe, err := hash("", os.DirFS(dir))
	if err != nil || e.has(ctx, ref, recipe) {
		return err
	}
	return e.build(ctx, ref, dir, recipe)
}

// build builds an image. The recipe identifies everything that determines the image's content.
func (e *Engine) build(ctx context.Context, ref, dir, recipe string) error {
	e.log.Printf("building %s", ref)
	_, err := e.Run(ctx, "build", "--quiet", "--tag", ref, "--label", recipeLabel+"="+recipe, dir)
	return err
}

// Arch returns the GOARCH of the engine's images.
func (e *Engine) Arch() string { return e.arch }

func (e *Engine) has(ctx context.Context, ref, recipe string) bool {
	label, err := e.inspect(ctx, ref, fmt.Sprintf("{{index .Config.Labels %q}}", recipeLabel))
	return err == nil && label == recipe
}

func (e *Engine) inspect(ctx context.Context, ref, format string) (string, error) {
	return e.Run(ctx, "image", "inspect", "--format", format, ref)
}

// Run runs a docker command and returns its output. The error is a single line.
func (e *Engine) Run(ctx context.Context, args ...string) (string, error) {
	return e.docker(ctx, io.Discard, args...)
}

func (e *Engine) docker(ctx context.Context, out io.Writer, args ...string) (string, error) {
	command := process.Command(ctx, "docker", args...)
	// With attestations, the build result would be an image index with an entry that has no platform.
	command.Env = append(os.Environ(), "BUILDX_NO_DEFAULT_ATTESTATIONS=1")
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = io.MultiWriter(&stdout, out), &stderr
	err := command.Run()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", explain(args[0], err, stderr.String())
	}
	return strings.TrimSpace(stdout.String()), nil
}

// explain returns a single-line error for a failed docker command. For common problems, it tells users what to do.
func explain(verb string, err error, stderr string) error {
	lower := strings.ToLower(stderr)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("no docker command is in PATH: install Docker")
	case strings.Contains(lower, "permission denied") && strings.Contains(lower, "connect to the docker"):
		return errors.New("permission denied on the Docker socket: add this user to the group docker, or run as root")
	case strings.Contains(lower, "connect to the docker"):
		return errors.New("cannot connect to a Docker engine: start one, or run `docker version` for details")
	case strings.Contains(lower, process.NoSpace):
		return fmt.Errorf("`docker %s` ran out of disk space: free some, for example with `docker system prune`", verb)
	}
	if last := process.LastErrorIn(stderr); last != "" {
		return fmt.Errorf("docker %s: %s", verb, last)
	}
	return fmt.Errorf("docker %s: %w", verb, err)
}

// hash returns a hash of the text and the files in the folders, without Go tests.
func hash(text string, folders ...fs.FS) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, text)
	for _, folder := range folders {
		err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := fs.ReadFile(folder, path)
			fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:4]), nil
}
