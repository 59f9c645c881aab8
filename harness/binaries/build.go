package binaries

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/terminal"
)

var errNoSuchVersion = errors.New("the Go module proxy does not have it")

var unknownVersion = regexp.MustCompile(`: (403|404|410) |unknown revision`)

// majorVersion matches the version suffix of a package path, which the go command omits from an executable's name.
var majorVersion = regexp.MustCompile(`/v\d+$`)

// builder builds a bundle's executables from Go modules. The go command verifies the module checksums.
type builder struct {
	bundle
	log *terminal.Log
}

func (b *builder) source() source {
	return source{name: "build from Go modules", provides: b.names(), get: b.get}
}

func (b *builder) get(ctx context.Context, dir string, wanted []string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("no go command in PATH: %w", err)
	}
	work, err := os.MkdirTemp(dir, "module-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := b.writeModule(ctx, work); err != nil {
		return err
	}
	if err := b.build(ctx, work, wanted); err != nil {
		return err
	}
	for _, name := range wanted {
		built := path.Base(majorVersion.ReplaceAllString(b.packages[name], ""))
		if err := os.Rename(filepath.Join(work, built), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// writeModule turns dir into a module that depends on the executables' packages.
func (b *builder) writeModule(ctx context.Context, dir string) error {
	stop := b.log.During(func() string { return "downloading the module of " + b.project })
	defer stop()
	var stdout, stderr bytes.Buffer
	download := b.command(ctx, dir, "mod", "download", "-json", b.module+"@"+b.version)
	download.Stdout, download.Stderr = &stdout, &stderr
	failure := download.Run()

	var module struct{ GoMod, Error string }
	if err := json.Unmarshal(stdout.Bytes(), &module); err != nil && failure != nil {
		return fmt.Errorf("%w: %s", failure, oneLine(stderr.String()))
	}
	if unknownVersion.MatchString(module.Error) {
		return fmt.Errorf("%w: %s", errNoSuchVersion, oneLine(module.Error))
	}
	if module.Error != "" || failure != nil {
		return withAdvice(errors.New(oneLine(module.Error + stderr.String())))
	}
	original, err := os.ReadFile(module.GoMod)
	if err != nil {
		return err
	}
	content, err := moduleFile(original, b.module, b.version)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.mod"), content, 0o644)
}

func (b *builder) build(ctx context.Context, dir string, wanted []string) error {
	names := strings.Join(wanted, ", ")
	b.log.Printf("building %s, which takes minutes unless it is in Go's build cache", names)
	flags := strings.Join(append([]string{"-s -w"}, b.ldflagsX...), " -X ") // set the versions, as in a release build
	build := b.command(ctx, dir, "build", "-trimpath", "-tags", b.tags, "-ldflags", flags, "-o", "./")
	for _, name := range wanted {
		build.Args = append(build.Args, b.packages[name])
	}
	var output bytes.Buffer
	build.Stderr = &output
	stop := b.log.During(func() string { return "building " + names })
	err := build.Run()
	stop()
	if err != nil {
		return withAdvice(fmt.Errorf("%w: %s", err, buildErrors(output.String())))
	}
	return nil
}

// maxErrorLines limits a build error to its first lines, which are the most useful.
const maxErrorLines = 5

func buildErrors(output string) string {
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(output), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "go: downloading ")
	})
	return strings.Join(lines[:min(len(lines), maxErrorLines)], "; ")
}

// command returns a go command that ignores GOFLAGS, GOWORK, GOGC and the target platform in the environment. Makefile
// targets for tests set a GOGC that would make the compilers use too much memory. Temporary files are in dir. If the
// command is killed, its compilers are killed as well.
func (b *builder) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	command := process.Command(ctx, "go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOGC=", "CGO_ENABLED=0",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "GOTMPDIR="+dir)
	return command
}

func withAdvice(err error) error {
	if strings.Contains(err.Error(), "requires go >=") {
		return fmt.Errorf("%w: install that version of Go, or set GOTOOLCHAIN=auto to download it", err)
	}
	return err
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
