package binaries

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operator-assay/assay/harness/terminal"
)

func TestModuleReplacesOnlyStagingRepositories(t *testing.T) {
	got, err := moduleFile([]byte(`module k8s.io/kubernetes

go 1.26.0

require (
	k8s.io/klog/v2 v2.140.0
	k8s.io/api v0.0.0
	k8s.io/client-go v0.0.0
)
`), "k8s.io/kubernetes", "v1.37.0")
	noError(t, err)
	for _, want := range []string{
		"go 1.26.0\n",
		"require k8s.io/kubernetes v1.37.0\n",
		"k8s.io/api => k8s.io/api v0.37.0\n",
		"k8s.io/client-go => k8s.io/client-go v0.37.0\n",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("got\n%s\nwant it to contain %q", got, want)
		}
	}
	if strings.Contains(string(got), "klog") {
		t.Errorf("got\n%s\nwant no replacement of a module with its own version", got)
	}
}

// fakeGo returns a builder and puts a fake go command in PATH. The command is a shell script that runs prelude, which
// can read its arguments, and then simulates go.
func fakeGo(t *testing.T, prelude string) *builder {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a process")
	}
	dir := t.TempDir()
	module := filepath.Join(dir, "kubernetes.mod")
	noError(t, os.WriteFile(module, []byte("module k8s.io/kubernetes\ngo 1.26.0\nrequire k8s.io/api v0.0.0\n"), 0o644))
	script := `#!/bin/sh
set -e
` + prelude + `
case "$1" in
mod) echo '{"GoMod": "` + module + `"}' ;;
build)
	test "$CGO_ENABLED" = 0
	test "$GOFLAGS" = -mod=mod
	test -z "$GOGC"
	test "$GOTMPDIR" = "$PWD"
	grep -q 'k8s.io/api => k8s.io/api v0.37.0' go.mod
	while test "$1" != -o; do shift; done
	cd "$2"
	shift 2
	for package; do
		name=$(basename "${package%/v[0-9]}")
		echo built >"$name"
		chmod +x "$name"
	done ;;
esac
`
	noError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return &builder{bundle: controlPlane("v1.37.0"), log: terminal.NewLog("", nil)}
}

func TestOneBuildMakesAllWantedExecutables(t *testing.T) {
	t.Setenv("GOGC", "400")
	dir := t.TempDir()
	builder := fakeGo(t, `test "$1" = mod || mkdir "$0-build" # fails if it is run again`)
	noError(t, builder.get(t.Context(), dir, []string{"etcd", "kube-scheduler"}))
	if files, _ := filepath.Glob(dir + "/*"); !slices.Equal(files, []string{dir + "/etcd", dir + "/kube-scheduler"}) {
		t.Errorf("got files %v, want only the wanted executables", files)
	}
}

func TestBuildFailureIsExplained(t *testing.T) {
	for name, test := range map[string]struct{ prelude, reason string }{
		"compiler": {
			`test "$1" = mod || { echo 'go: downloading k8s.io/api v0.37.0' >&2; echo '# k8s.io/api' >&2; echo 'main.go:1: undefined: x' >&2; exit 1; }`,
			": # k8s.io/api; main.go:1: undefined: x"},
		"older Go": {
			`test "$1" = mod || { echo 'go: go.mod requires go >= 1.99 (running go 1.26; GOTOOLCHAIN=local)' >&2; exit 1; }`,
			"GOTOOLCHAIN=auto"},
		"no such version": {
			`echo '{"Error": "reading .../v1.37.0.info: 404 Not Found"}'; exit 1`,
			"404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			err := fakeGo(t, test.prelude).get(t.Context(), t.TempDir(), controlPlaneNames)
			if err == nil || !strings.Contains(err.Error(), test.reason) {
				t.Errorf("got error %v, want %q", err, test.reason)
			}
		})
	}
}

func TestUnknownVersionIsOneLine(t *testing.T) {
	source := fakeGo(t, `printf %s '{"Error": "reading .../v1.37.0.info: 404 Not Found\n\tserver response: no"}'; exit 1`)
	p, _ := newProvider(t, fails("no route to host"), source.source())
	p.version, source.version = "v1.99.0", "v1.99.0"
	_, err := p.ensure(t.Context())
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "K8S_VERSION") {
		t.Errorf("got %v", err)
	}
}

func TestMissingGoCommandIsExplained(t *testing.T) {
	source := fakeGo(t, "")
	t.Setenv("PATH", "")
	if err := source.get(t.Context(), t.TempDir(), controlPlaneNames); err == nil || !strings.Contains(err.Error(), "PATH") {
		t.Errorf("got %v", err)
	}
}

func TestInterruptStopsBuild(t *testing.T) {
	ctx, interrupt := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer interrupt()
	// sleep runs as a child process that keeps stderr open, as a compiler does.
	source := fakeGo(t, `test "$1" = mod || { sleep 60; true; }`)
	p, _ := newProvider(t, source.source(), fails("tried after an interrupt"))
	begin := time.Now()
	if _, err := p.ensure(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want the interrupt", err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("got %s until the build stopped", took)
	}
	expectNoIncompleteDirectory(t, p)
}
