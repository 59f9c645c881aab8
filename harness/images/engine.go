package images

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/distribution/reference"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/terminal"
)

// answerTimeout is for what answers in milliseconds when all is well: the engine, and a registry, whose network may
// swallow what is sent to it. What follows may last.
const answerTimeout = 10 * time.Second

// Engine is a Docker engine that keeps images.
type Engine struct {
	arch          string // of its images, as Go and Debian name it
	apiVersion    string
	answerTimeout time.Duration
	log           *terminal.Log
	progress      io.Writer
}

// Connect finds the engine that the docker command talks to; its error says in a line what a user can do. What takes a
// while is told to progress in a line; nil discards that.
func Connect(ctx context.Context, progress io.Writer) (*Engine, error) {
	e := &Engine{answerTimeout: answerTimeout, log: terminal.NewLog("images", progress), progress: progress}
	asking, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	version, err := e.Run(asking, "version", "--format", "{{.Server.Os}} {{.Server.Arch}} {{.Client.APIVersion}}")
	if asking.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("no Docker engine answers within %s: see `docker version`", answerTimeout)
	}
	if err != nil {
		return nil, err
	}
	var system string
	if _, err := fmt.Sscan(version, &system, &e.arch, &e.apiVersion); err != nil || system != "linux" {
		return nil, fmt.Errorf("the Docker engine runs no Linux containers but says it is %q: switch it over", version)
	}
	return e, nil
}

// Pull gets published images unless they are there. Its error names the registry that does not serve one.
func (e *Engine) Pull(ctx context.Context, refs ...string) error {
	for _, ref := range refs {
		name, err := reference.ParseNormalizedNamed(ref)
		if err != nil {
			return fmt.Errorf("%q is no image's name: %w", ref, err)
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
	// Docker's first word on standard output comes when it has the manifest.
	answered := writerFunc(func() { silence.Stop() })
	_, err := e.docker(answering, answered, "pull", "--platform", "linux/"+e.arch, ref)
	if answering.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("no answer within %s", e.answerTimeout)
	}
	return err
}

// Save writes images to one archive, for the engine's own platform only: a node could not load the others, which were
// never pulled.
func (e *Engine) Save(ctx context.Context, path string, refs ...string) error {
	args := []string{"save", "--output", path}
	var minor int
	// Older engines do not know the flag, and hold one platform per image as a rule.
	if _, err := fmt.Sscanf(e.apiVersion, "1.%d", &minor); err == nil && minor >= 48 {
		args = append(args, "--platform", "linux/"+e.arch)
	}
	_, err := e.Run(ctx, append(args, refs...)...)
	return err
}

// Size is how many bytes an image takes.
func (e *Engine) Size(ctx context.Context, ref string) (int64, error) {
	size, err := e.inspect(ctx, ref, "{{.Size}}")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(size, 10, 64)
}

// recipeLabel is the label with the hash of what an image was built from.
const recipeLabel = "assay.recipe"

// Build makes an image of the Dockerfile in a folder, unless it is there already, built from the same recipe: all that its
// content depends on.
func (e *Engine) Build(ctx context.Context, ref, dir string, recipe ...[]byte) error {
	if e.has(ctx, ref, hash(recipe...)) {
		return nil
	}
	e.log.Printf("building %s", ref)
	_, err := e.Run(ctx, "build", "--quiet", "--tag", ref, "--label", recipeLabel+"="+hash(recipe...), dir)
	return err
}

// Arch is the architecture of the engine's images, as Go names it.
func (e *Engine) Arch() string { return e.arch }

// has tells whether ref is an image that was built from a recipe of that hash.
func (e *Engine) has(ctx context.Context, ref, recipe string) bool {
	label, err := e.inspect(ctx, ref, fmt.Sprintf("{{index .Config.Labels %q}}", recipeLabel))
	return err == nil && label == recipe
}

func (e *Engine) inspect(ctx context.Context, ref, format string) (string, error) {
	return e.Run(ctx, "image", "inspect", "--format", format, ref)
}

// Run runs a docker command and returns what it prints. Its error says in a line why the command failed.
func (e *Engine) Run(ctx context.Context, args ...string) (string, error) {
	return e.docker(ctx, io.Discard, args...)
}

// docker runs a docker command and returns what it prints, which goes to out meanwhile.
func (e *Engine) docker(ctx context.Context, out io.Writer, args ...string) (string, error) {
	command := process.Command(ctx, "docker", args...)
	// An attestation would make of a built image an index of two, of which one has no platform.
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

// explain says in a line why a docker command failed, and what to do about it.
func explain(verb string, err error, stderr string) error {
	said := strings.ToLower(stderr)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("no docker command is in PATH: install Docker")
	case strings.Contains(said, "permission denied") && strings.Contains(said, "connect to the docker"):
		return errors.New("this user may not use the Docker engine's socket: join the group docker, or be root")
	case strings.Contains(said, "connect to the docker"):
		return errors.New("no Docker engine answers: start one, or see `docker version`")
	case strings.Contains(said, process.NoSpace):
		return fmt.Errorf("no disk space for `docker %s`: free some, for example by `docker system prune`", verb)
	}
	for line := range strings.Lines(stderr) {
		if why, ok := strings.CutPrefix(line, "Error response from daemon: "); ok {
			return fmt.Errorf("docker %s: %s", verb, strings.TrimSpace(why))
		}
	}
	if last := process.LastErrorIn(stderr); last != "" {
		return fmt.Errorf("docker %s: %s", verb, last)
	}
	return fmt.Errorf("docker %s: %w", verb, err)
}

// hash makes a recipe's label.
func hash(parts ...[]byte) string {
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d ", len(part))
		sum.Write(part)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}

// writerFunc is called for whatever is written.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
