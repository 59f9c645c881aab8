package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/test/scenarios"
)

func kubectlLifecycle(k scenarios.TestKind, columns string) scenario.Scenario {
	return k.Scenario("kubectl",
		runKubectl(k, "apply"),
		k.PodsAreReady(3),
		kubectlPrints(columns, "get", k.Plural()),
		kubectlPrints("3 3 True", "get", k.Plural()),
		kubectlPrints(strings.ToLower(k.GroupKind().String())+"/", "get", "all"),
		kubectlPrints("Created Deployment", "describe", k.Plural()),
		runKubectl(k, "scale", "--replicas=4"),
		k.PodsAreReady(4),
		kubectlPrints("condition met", "wait", "--for=condition=Available", k.Plural(), "--all", "--timeout=60s"),
		runKubectl(k, "delete", "--wait=false"),
		k.NothingIsLeft(),
	)
}

// runKubectl runs a kubectl command that reads the manifest of the resource from its standard input.
func runKubectl(k scenarios.TestKind, verb string, flags ...string) scenario.Step {
	name := "Kubectl" + strings.ToUpper(verb[:1]) + verb[1:]
	return scenario.Step{Name: name, IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		text, err := k.Manifest(env).MarshalJSON()
		if err != nil {
			return err
		}
		output, err := kubectl(ctx, text, append([]string{verb, "--filename=-"}, flags...)...)
		env.Detailf("%s", strings.TrimSpace(output))
		return err
	}}
}

// kubectlPrints checks that a line of the output contains the given words. It ignores column widths.
func kubectlPrints(words string, args ...string) scenario.Step {
	name := "Kubectl" + strings.ToUpper(args[0][:1]) + args[0][1:] + "Prints"
	return scenario.Step{Name: name, Run: func(ctx context.Context, env *scenario.Env) error {
		printed, err := kubectl(ctx, nil, append(slices.Clone(args), "--namespace="+env.Namespace)...)
		if err != nil {
			return err
		}
		for line := range strings.Lines(printed) {
			if line = strings.Join(strings.Fields(line), " "); strings.Contains(line, words) {
				env.Detailf("%s", line)
				return nil
			}
		}
		return fmt.Errorf("got:\n%s\nwant a line with %q", printed, words)
	}}
}

func kubectl(ctx context.Context, stdin []byte, args ...string) (string, error) {
	command := exec.CommandContext(ctx, kubectlPath, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+testCluster.Kubeconfig, "KUBERC=off")
	command.Stdin = bytes.NewReader(stdin)
	var out, stderr bytes.Buffer
	command.Stdout, command.Stderr = &out, &stderr
	if err := command.Run(); err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return out.String(), nil
}

var kubectlPath string

// findKubectl sets kubectlPath. It prefers the kubectl in PATH, because that is the version that users run.
func findKubectl(ctx context.Context) error {
	var err error
	if kubectlPath, err = exec.LookPath("kubectl"); err == nil {
		return nil
	}
	dir, err := binaries.Ensure(ctx, "", reporter, "kubectl")
	kubectlPath = filepath.Join(dir, "kubectl")
	return err
}
