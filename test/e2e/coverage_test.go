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

// coverageInPod is the coverage directory, both on the node and in the container.
const coverageInPod = "/var/lib/assay-coverage"

var coverageFoldersCreated bool

// coverageEnabled reports whether to measure the coverage of the operator. A replica writes its coverage when it exits,
// so the coverage of a killed replica is lost.
func coverageEnabled() bool { return os.Getenv("COVER") != "" }

func coverageFlags() []string {
	if !coverageEnabled() {
		return nil
	}
	return []string{"-cover", "-covermode=atomic", "-coverpkg=./operator/..."}
}

func coverageDir() string { return filepath.Join(artifactsDir, "coverage") }

func coverageEnvironment() []string {
	if !coverageEnabled() {
		return nil
	}
	return []string{"GOCOVERDIR=" + coverageDir()}
}

func prepareCoverage(ctx context.Context) error {
	switch {
	case !coverageEnabled():
		return nil
	case testCluster.Provider == cluster.Existing:
		return fmt.Errorf("COVER=%s is not supported on an existing cluster: use E2E_PROVIDER=kind or kwok", os.Getenv("COVER"))
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

// addCoverageVolume adds a hostPath volume to the Deployment. The restricted Pod Security Standard forbids such volumes,
// so addCoverageVolume also removes the labels of the Namespace that enforce it.
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

// gatherCoverage copies the coverage from the kind nodes. The operator's Pods must have exited.
func gatherCoverage(ctx context.Context) error {
	if !coverageFoldersCreated || testCluster.Provider != cluster.Kind {
		return nil
	}
	return onEachNode(ctx, func(node string) []string {
		return []string{"cp", node + ":" + coverageInPod + "/.", coverageDir()}
	})
}

// onEachNode runs a docker command for each kind node. The node and its container have the same name.
func onEachNode(ctx context.Context, arguments func(node string) []string) error {
	nodes := &corev1.NodeList{}
	if err := k8sClient.List(ctx, nodes); err != nil {
		return err
	}
	for _, node := range nodes.Items {
		if output, err := exec.CommandContext(ctx, "docker", arguments(node.Name)...).CombinedOutput(); err != nil {
			return fmt.Errorf("cannot collect coverage on node %s: %w: %s", node.Name, err, output)
		}
	}
	return nil
}
