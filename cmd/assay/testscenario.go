package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operator-assay/assay/test/harness/controlplane"
	"github.com/operator-assay/assay/test/harness/process"
	"github.com/operator-assay/assay/test/harness/scenario"
)

const (
	// testTimeout is how long a test may take before it is killed.
	testTimeout = 5 * time.Minute
	// testLines is how many lines of a failed test's output are shown.
	testLines = 20
)

// testScenarios are commands as scenarios, named test/1, test/2 and so on.
func testScenarios(commands []string) []scenario.Scenario {
	var scenarios []scenario.Scenario
	for i, command := range commands {
		run := func(ctx context.Context, env *scenario.Env) error { return runTest(ctx, env, command) }
		scenarios = append(scenarios, scenario.Scenario{
			Name:  fmt.Sprintf("test/%d", i+1),
			Steps: []scenario.Step{{Name: "Test(" + command + ")", IsAction: true, Run: run}},
		})
	}
	return scenarios
}

// runTest runs a command in the namespace of a run.
func runTest(ctx context.Context, env *scenario.Env, command string) error {
	folder, err := os.MkdirTemp("", "assay-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	kubeconfig := filepath.Join(folder, "kubeconfig")
	if err := writeKubeconfig(kubeconfig, env.Config, env.Namespace); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	test := exec.CommandContext(limited, "sh", "-c", command)
	test.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "NAMESPACE="+env.Namespace)
	process.Isolate(test)
	test.WaitDelay = time.Second // for children that hold its output open
	out, err := test.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && limited.Err() != nil:
		err = fmt.Errorf("it has not ended within %s", testTimeout)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return errors.Join(err, errors.New(strings.Join(lines[max(0, len(lines)-testLines):], "\n")))
}

// writeKubeconfig writes a kubeconfig file whose default namespace is the given one.
func writeKubeconfig(path string, config *rest.Config, namespace string) error {
	if err := controlplane.WriteKubeconfig(path, config); err != nil {
		return err
	}
	written, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return err
	}
	written.Contexts[written.CurrentContext].Namespace = namespace
	return clientcmd.WriteToFile(*written, path)
}
