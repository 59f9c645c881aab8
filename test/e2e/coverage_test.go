package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/cluster"
)

// With COVER=1 the operator counts which of its statements run, and writes the counts to a folder when it exits. Those of a
// killed replica are lost. A Pod writes to a folder of its node, which the restricted Pod Security Standard forbids: in such
// a run, the operator's namespace enforces none.

// coverageInPod is that folder, as the node and the container see it.
const coverageInPod = "/var/lib/assay-coverage"

// coverageFoldersCreated is set when there may be counts to fetch.
var coverageFoldersCreated bool

// coverageEnabled tells whether the operator is built to count.
func coverageEnabled() bool { return os.Getenv("COVER") != "" }

// coverageFlags are for the go command that builds it.
func coverageFlags() []string {
	if !coverageEnabled() {
		return nil
	}
	return []string{"-cover", "-covermode=atomic", "-coverpkg=./operator/..."}
}

// coverageDir is the folder of the counts.
func coverageDir() string { return filepath.Join(artifactsDir, "coverage") }

// coverageEnvironment tells a process of the operator where to write.
func coverageEnvironment() []string {
	if !coverageEnabled() {
		return nil
	}
	return []string{"GOCOVERDIR=" + coverageDir()}
}

// prepareCoverage creates the folders.
func prepareCoverage(ctx context.Context) error {
	switch {
	case !coverageEnabled():
		return nil
	case testCluster.Provider == cluster.Existing:
		return fmt.Errorf("COVER=%s: what a Pod has counted can be fetched from nodes of kind only: use E2E_PROVIDER=kind or kwok", os.Getenv("COVER"))
	case testCluster.Provider == cluster.Kind:
		if err := onEachNode(ctx, func(node string) []string {
			return []string{"exec", node, "sh", "-c", "rm -rf " + coverageInPod + " && mkdir --mode=777 " + coverageInPod}
		}); err != nil {
			return err
		}
	}
	coverageFoldersCreated = true
	return os.MkdirAll(coverageDir(), 0o755)
}

// addCoverageVolume lets the operator's Pods write to their node.
func addCoverageVolume(object *unstructured.Unstructured) error {
	if !coverageEnabled() {
		return nil
	}
	if object.GetKind() == "Namespace" {
		object.SetLabels(nil)
	}
	if !isDeployment(object) {
		return nil
	}
	pod, _, err := unstructured.NestedMap(object.Object, "spec", "template", "spec")
	if err != nil {
		return err
	}
	pod["volumes"] = []any{map[string]any{"name": "coverage", "hostPath": map[string]any{"path": coverageInPod}}}
	container := pod["containers"].([]any)[0].(map[string]any)
	container["env"] = []any{map[string]any{"name": "GOCOVERDIR", "value": coverageInPod}}
	container["volumeMounts"] = []any{map[string]any{"name": "coverage", "mountPath": coverageInPod}}
	return unstructured.SetNestedMap(object.Object, pod, "spec", "template", "spec")
}

// gatherCoverage fetches what the operator's Pods have counted. They have ended by now.
func gatherCoverage(ctx context.Context) error {
	if !coverageFoldersCreated || testCluster.Provider != cluster.Kind {
		return nil
	}
	return onEachNode(ctx, func(node string) []string {
		return []string{"cp", node + ":" + coverageInPod + "/.", coverageDir()}
	})
}

// onEachNode runs a command of docker for each node of kind, which is a container of the same name.
func onEachNode(ctx context.Context, arguments func(node string) []string) error {
	nodes := &corev1.NodeList{}
	if err := k8sClient.List(ctx, nodes); err != nil {
		return err
	}
	for _, node := range nodes.Items {
		if said, err := exec.CommandContext(ctx, "docker", arguments(node.Name)...).CombinedOutput(); err != nil {
			return fmt.Errorf("no coverage from node %s: %w: %s", node.Name, err, said)
		}
	}
	return nil
}
