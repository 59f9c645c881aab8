package images

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operator-assay/assay/harness/process"
)

func TestExistingNodeImageNeedsNoCache(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a process")
	}
	engine := connect(t, `[ $1 = image ] && echo sha256:1 || echo linux amd64 1.41`)
	file := filepath.Join(t.TempDir(), "file")
	noError(t, os.WriteFile(file, nil, 0o600))
	t.Setenv("HOME", file)
	t.Setenv("XDG_CACHE_HOME", file)
	if name, err := engine.BuildNodeImage(t.Context(), "v1.37.0"); err != nil || !strings.HasPrefix(name, "assay/kind-node:v1.37.0-") {
		t.Errorf("got image %q, %v", name, err)
	}
}

func TestEachBuildHasItsOwnDirectory(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "[home]")
	killed := filepath.Join(folder, "work-1")
	noError(t, os.MkdirAll(filepath.Join(killed, "root"), 0o755))
	for range 2 {
		work, err := newWorkDir(folder)
		if err != nil || work == killed {
			t.Fatalf("got directory %s, %v, want a new one", work, err)
		}
		if _, err := os.Stat(killed); err == nil {
			t.Errorf("%s of a killed build still exists", killed)
		}
		killed = work
	}
}

func TestImportReportsTheErrorOfContainerd(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a process")
	}
	containerd := filepath.Join(t.TempDir(), "containerd")
	noError(t, os.WriteFile(containerd, []byte("#!/bin/sh\necho 'containerd: no luck' >&2; exit 1\n"), 0o755))
	script := exec.CommandContext(t.Context(), "bash", "-s", "--", containerd, "false", t.TempDir(), t.TempDir(), "images.tar")
	script.Stdin = strings.NewReader(nodeFile("import.sh"))
	if _, err := process.Output(script); err == nil || !strings.HasSuffix(err.Error(), ": containerd: no luck") {
		t.Errorf("got error %v, want the error of containerd", err)
	}
}
