package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/results"
)

func assay(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// expectRefused runs an invalid command line and expects a usage error that contains the given text.
func expectRefused(t *testing.T, says string, args ...string) {
	t.Helper()
	code, stdout, stderr := assay(t, args...)
	first, rest, _ := strings.Cut(stderr, "\n")
	if code != exitUsage || stdout != "" || !strings.HasPrefix(first, "error: ") || !strings.Contains(first, says) || !strings.HasPrefix(rest, "see `assay") {
		t.Errorf("assay %q: want %q, got exit code %d:\n%s%s", args, says, code, stdout, stderr)
	}
}

const scenarios = "../../test/fixtures/naive/scenarios.yaml"

func TestUsageErrors(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, test := range []struct{ line, says string }{
		{"nothing", `unknown command "nothing"`},
		{"explore --oprator x", "unknown flag: --oprator"},
		{"explore x", `unknown argument "x"`},
		{"explore --test=", "--test: the command is empty: pass a shell command, such as 'go test ./test/e2e'"},
		{"explore", "/cmd/assay: run this in the operator's project directory"},
		{"init", "no config/default in "},
		{"init --install -", "--install: assay.yaml cannot refer to the standard input: write the manifests to a file and set --install to its name"},
		{"explore --operator no-such-program", "--operator: no-such-program: stat "},
		{"explore --operator /bin/sh --install none.yaml", "--install: none.yaml does not exist"},
		{"explore --operator /bin/sh --scenarios none.yaml", "--scenarios: none.yaml does not exist"},
		{"explore --operator /bin/sh --scenarios " + scenarios + " --seed -1", `--seed: invalid value "-1": use a whole number from 0`},
		{"explore --check=maybe", `--check: invalid value "maybe": use true or false`},
		{"explore --operator=", "--operator: the value is empty: set it, or remove the flag"},
		{"explore --crds=", "--crds: the value is empty"},
		{"explore --artifacts=", "--artifacts: the value is empty"},
		{"explore --fail-on= --check --plan a", "[check plan] were all set: remove all but one of them"},
		{"cluster up --name=", "--name: the value is empty"},
		{"explore --crds main.go main_test.go", `unknown argument "main_test.go": repeat the flag for each file, or pass the operator's arguments after --`},
		{"explore --operator /bin/sh --scenarios " + scenarios + " --role ../../operator/config/rbac/role.yaml --manager x", "run this in the operator's project directory"},
		{"explore --operator /bin/sh --scenarios " + scenarios + " --role none.yaml", "--role: none.yaml does not exist"},
		{"explore --operator /bin/sh --scenarios " + scenarios + " --role ../../operator/config/rbac/role.yaml --plan=none;none", `--plan: invalid plan "none"`},
		{"explore --operator /bin/sh --scenarios " + scenarios + " --role ../../operator/config/rbac/role.yaml --artifacts main.go/explore", "--artifacts: mkdir main.go: not a directory: pass a writable directory"},
		{"explore --operator /bin/sh --main ./cmd", "--operator and --main cannot be combined: remove one of them"},
		{"explore --operator /bin/sh --scenarios " + scenarios + " --sample none.yaml", "--sample cannot be combined with scenarios or tests: remove --sample, or the scenarios and tests"},
		{"explore --operator /bin/sh --role ../../operator/config/rbac/role.yaml --test true --sample none.yaml", "--sample cannot be combined with scenarios or tests"},
		{"explore --operator /bin/sh --role ../../operator/config/rbac/role.yaml", "no CRDs, so the kinds of the operator are unknown"},
		{"control-plane up", `unknown command "up"`},
		{"cluster bogus", `unknown command "bogus" for "assay cluster"`},
		{"report --markdown --file page.html .", "[file markdown] were all set"},
		{"report merge main.go", "main.go/results.json"},
		{"explore --plan none", `--plan: invalid plan "none"`},
		{"explore --fail-on big", `--fail-on: unknown severity "big": use a comma-separated list of panic, lost`},
		{"control-plane --binaries etcd,kubeadm", `--binaries: unknown binary "kubeadm": use a comma-separated list of etcd, kube-apiserver`},
		{"control-plane run", "pass the command to run after --"},
		{"report merge", "pass the directory of each shard"},
		{"control-plane --kubernetes-version latest", `invalid Kubernetes version "latest"`},
		{"cluster up --nodes many", `--nodes: invalid value "many": use a whole number`},
		{"cluster up --provider minikube", `--provider (E2E_PROVIDER) "minikube"`},
		{"cluster down --name UPPER", `--name (E2E_CLUSTER) "UPPER"`},
		{"report none", "none does not exist"},
		{"node-image --kubernetes-version 37", `invalid Kubernetes version "37"`},
		{"explore --output xml", `--output: unknown format "xml": use text or json`},
		{"report merge --output xml .", `--output: unknown format "xml": use text or json`},
	} {
		expectRefused(t, test.says, strings.Fields(test.line)...)
	}
}

func TestNodesFromEnvironment(t *testing.T) {
	t.Setenv("E2E_NODES", "many")
	expectRefused(t, "E2E_NODES=many", "cluster", "down")
}

func TestExistingClusterNeedsKubeconfig(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	t.Setenv("KUBECONFIG", none)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	expectRefused(t, none+" does not exist", "cluster", "up", "--provider", "existing")
}

func TestFailureExitCode(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // so that docker is not found
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if code, _, stderr := assay(t, "cluster", "up", "--provider", "kind"); code != exitBroken || !strings.Contains(stderr, "kind needs a Docker engine") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestInterruptExitCode(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, err bytes.Buffer
	if code := run(ctx, []string{"control-plane"}, &out, &err); code != exitSignal || !strings.HasSuffix(err.String(), "error: interrupted; everything was cleaned up\n") {
		t.Errorf("exit code %d: %s", code, err.String())
	}
}

func TestVersionFlag(t *testing.T) {
	if code, stdout, _ := assay(t, "--version"); code != exitOK || stdout != "assay version "+version()+"\n" {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}

func TestCommandsHaveExamples(t *testing.T) {
	started := false
	for _, command := range newRoot(&started).Commands() {
		for _, c := range append(command.Commands(), command) {
			if c.Runnable() && c.Example == "" {
				t.Errorf("%s has no example", c.CommandPath())
			}
		}
	}
	if code, stdout, _ := assay(t, "completion", "bash"); code != exitOK || !strings.Contains(stdout, "__start_assay") {
		t.Errorf("no completion: exit code %d", code)
	}
}

func TestInterruptReportsOtherErrors(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupt signal received"))
	stays := errors.New("the Job default/explore stays: forbidden: delete it")
	for _, test := range []struct {
		err  error
		says string
	}{
		{fmt.Errorf("starting: %w", ctx.Err()), "error: interrupted; everything was cleaned up\n"},
		{context.Cause(ctx), "error: interrupted; everything was cleaned up\n"},
		{fmt.Errorf("go build: %w", &exec.ExitError{ProcessState: &os.ProcessState{}}), "error: interrupted; everything was cleaned up\n"},
		{controlplane.CommandError{ExitError: &exec.ExitError{ProcessState: &os.ProcessState{}}}, "error: interrupted; everything was cleaned up\n"},
		{errors.Join(ctx.Err(), results.FindingsError("1 lost")), "error: interrupted; everything was cleaned up\n"},
		{errors.Join(ctx.Err(), stays), "error: interrupted: " + stays.Error() + "\n"},
		{errors.Join(errors.Join(ctx.Err(), stays), errors.New("run the missing shards")), "error: interrupted: " + stays.Error() + "; run the missing shards\n"},
		{errors.Join(errors.Join(ctx.Err(), stays), context.Cause(ctx)), "error: interrupted: " + stays.Error() + "\n"},
	} {
		var out bytes.Buffer
		command := &cobra.Command{}
		command.SetErr(&out)
		if code := fail(ctx, command, test.err); code != exitSignal || out.String() != test.says {
			t.Errorf("%v: exit code %d, %q, want %q", test.err, code, out.String(), test.says)
		}
	}
}

func TestNohup(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("these tests ignore SIGHUP themselves")
	}
	if !slices.Contains(process.EndingSignals(), os.Signal(syscall.SIGHUP)) {
		t.Error("SIGHUP does not end a run cleanly")
	}
	defer signal.Reset(syscall.SIGHUP)
	ctx := untilSignal()
	noError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	<-ctx.Done()
	for !signal.Ignored(syscall.SIGHUP) { // the second one must not kill the cleanup
		time.Sleep(time.Millisecond)
	}
	if slices.Contains(process.EndingSignals(), os.Signal(syscall.SIGHUP)) {
		t.Error("SIGHUP ends a run whose parent ignores it")
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
