package project

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/terminal"
)

// Build builds a main package with the user's Go toolchain and settings, and reports progress to out. Temporary files
// are created in the binary's folder, so that removing this folder also cleans up after an interrupted build. If the
// build fails, the first line of the error ends with orElse, which describes an alternative to fixing the package. The
// other lines are the compiler's output.
func Build(ctx context.Context, folder, mainPackage, binary, orElse string, out io.Writer) error {
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("building %s requires go, which is not installed: install it, or %s", mainPackage, orElse)
	}
	module, inModule := moduleOf(folder, mainPackage)
	build := process.Command(ctx, "go", "build", "-v", "-o", binary, inModule)
	build.Dir = module
	build.Env = append(os.Environ(), "GOTMPDIR="+filepath.Dir(binary), "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	var output buildOutput
	build.Stdout, build.Stderr = &output, &output
	log := terminal.NewLog("build", out)
	log.Printf("%s with go build", mainPackage)
	stop := log.During(output.now)
	err := build.Run()
	stop()
	if err != nil {
		text, advice := output.errors(), "fix the build errors"
		switch {
		case strings.Contains(text, "missing go.sum entry"):
			advice = "run `go mod tidy`"
		case strings.Contains(text, "error obtaining VCS status"):
			advice = "set GOFLAGS=-buildvcs=false"
		}
		return fmt.Errorf("building %s failed (%w): %s, or %s\n%s", mainPackage, err, advice, orElse, text)
	}
	return nil
}

// buildOutput collects the output of `go build -v`, which contains both progress lines and errors.
type buildOutput struct {
	mu   sync.Mutex
	text []byte
}

// progressLine matches a line about a module being downloaded or a package being compiled.
var progressLine = regexp.MustCompile(`(?m)^(go: downloading .*|[\w.~/-]+)\n`)

func (o *buildOutput) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, text...)
	return len(text), nil
}

func (o *buildOutput) now() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := progressLine.FindAllString(string(o.text), -1)
	if len(lines) == 0 {
		return "loading packages"
	}
	last := strings.TrimSpace(lines[len(lines)-1])
	if download, is := strings.CutPrefix(last, "go: "); is {
		return download
	}
	return "compiling " + last
}

// errors returns the first error lines. There can be many, for example two per import if go.sum is incomplete.
func (o *buildOutput) errors() string {
	const most = 20
	lines := strings.Split(strings.TrimSpace(progressLine.ReplaceAllString(string(o.text), "")), "\n")
	if more := len(lines) - most; more > 1 {
		lines = append(lines[:most], fmt.Sprintf("… and %d more lines", more))
	}
	return strings.Join(lines, "\n")
}

// Revision returns the VCS revision or the module version of a Go binary, and an empty string for other files.
func Revision(program string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value[:min(12, len(setting.Value))]
		}
	}
	return info.Main.Version
}
