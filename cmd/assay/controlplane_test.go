package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeepStopsAtEOF(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	code, _, stderr := assay(t, "control-plane", "keep", "--count=1", "--until-eof") // go test leaves standard input empty
	if code != 0 {
		t.Errorf("got exit code %d, want 0:\n%s", code, stderr)
	}
}

// TestExitCodeOfCommandIsKept runs a command that leaves a kubectl process in another process group. This process still
// has an open watch when the control plane stops.
func TestExitCodeOfCommandIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	t.Setenv("KUBEBUILDER_ASSETS", os.Getenv("KUBEBUILDER_ASSETS")) // the command changes these variables
	t.Setenv("PATH", os.Getenv("PATH"))
	temp, watched := t.TempDir(), filepath.Join(t.TempDir(), "watched")
	t.Setenv("TMPDIR", temp)
	const script = `setsid kubectl get namespaces --watch >"$0" & until grep -q default "$0"; do sleep 0.1; done; exit 7`
	code, _, stderr := assay(t, "control-plane", "run", "--", "sh", "-c", script, watched)
	if code != 7 || strings.Contains(stderr, "error") {
		t.Errorf("got exit code %d, want 7:\n%s", code, stderr)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("got remaining files %v, %v, want none", left, err)
	}
}

func TestKilledCommandIsReported(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	t.Setenv("KUBEBUILDER_ASSETS", os.Getenv("KUBEBUILDER_ASSETS")) // the command changes these variables
	t.Setenv("PATH", os.Getenv("PATH"))
	code, _, stderr := assay(t, "control-plane", "run", "--", "sh", "-c", "kill -9 $$")
	if code != 128+9 || !strings.HasSuffix(stderr, "error: sh: signal: killed\n") {
		t.Errorf("got exit code %d, want 137, as in a shell, and an error:\n%s", code, stderr)
	}
}

// noexec is the variable in which TestNoexecTempDirIsReplaced passes the noexec directory to its child process.
const noexec = "ASSAY_TEST_NOEXEC"

func TestNoexecTempDirIsReplaced(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a process")
	}
	if temp := os.Getenv(noexec); temp != "" {
		code, _, stderr := assay(t, "control-plane")
		want := fmt.Sprintf("cannot execute programs in %s: using %s; set TMPDIR to choose another directory\n", temp, os.TempDir())
		if code != exitOK || stderr != want {
			t.Errorf("got exit code %d and %q, want %q", code, stderr, want)
		}
		program := filepath.Join(os.TempDir(), "program")
		noError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755))
		noError(t, exec.CommandContext(t.Context(), program).Run())
		return
	}
	temp := t.TempDir()
	mounted := []string{"-Urm", "sh", "-c", `mount -t tmpfs -o noexec tmpfs "$TMPDIR" && exec "$@"`, "sh"}
	inside := func(command ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), "unshare", append(mounted, command...)...)
		c.Env = append(os.Environ(), "TMPDIR="+temp, "XDG_CACHE_HOME="+t.TempDir(), "KUBEBUILDER_ASSETS="+fakeBinaries(t), noexec+"="+temp)
		return c
	}
	if err := inside("true").Run(); err != nil {
		t.Skip("needs a mount namespace: ", err)
	}
	if output, err := inside(os.Args[0], "-test.run=^"+t.Name()+"$").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
}

// fakeBinaries returns a directory with an empty script for each control plane binary.
func fakeBinaries(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755))
	}
	return dir
}

func TestControlPlanePrintsFolder(t *testing.T) {
	dir := fakeBinaries(t)
	t.Setenv("KUBEBUILDER_ASSETS", dir)
	if code, stdout, _ := assay(t, "control-plane"); code != exitOK || stdout != dir+"\n" {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}
