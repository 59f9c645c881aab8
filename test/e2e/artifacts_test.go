package e2e

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/artifacts"
)

// collectArtifacts keeps what explains a failed scenario, before anything is torn down, and returns the folder.
func collectArtifacts(ctx context.Context, name, namespace string) string {
	if namespace == "" {
		return "none: there is no namespace"
	}
	collector := artifacts.Collector{
		Dir:    artifactsDir,
		Config: testCluster.Config,
		Logs: map[string]artifacts.Log{
			"pods.txt":       describePods(namespace),
			"containers.log": containerLogs(namespace),
			"operator.txt":   describePods(operatorNamespace),
			"operator.log":   containerLogs(operatorNamespace),
		},
	}
	logs, _ := filepath.Glob(filepath.Join(operatorLogs(), "*.log")) // the pattern is a good one
	for _, log := range logs {
		collector.Logs["operator-"+filepath.Base(log)] = artifacts.File(log)
	}
	folder, err := collector.Collect(ctx, name, namespace)
	if err != nil {
		return fmt.Sprintf("%s, of which a part could not be had: %s", folder, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return folder // what the cluster's own parts have logged is added once, at the run's end
}

// describePods is the output of kubectl describe for the Pods of a namespace.
func describePods(namespace string) artifacts.Log {
	return func(ctx context.Context, w io.Writer) error {
		text, err := kubectl(ctx, "describe", "pods", "--namespace="+namespace)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		return err
	}
}

// containerLogs are the logs of a namespace's containers, also of those that were restarted since.
func containerLogs(namespace string) artifacts.Log {
	return func(ctx context.Context, w io.Writer) error {
		pods := &corev1.PodList{}
		if err := k8sClient.List(ctx, pods, client.InNamespace(namespace)); err != nil {
			return err
		}
		for _, pod := range pods.Items {
			for _, status := range pod.Status.ContainerStatuses {
				for _, previous := range []bool{true, false} {
					if previous && status.RestartCount == 0 {
						continue
					}
					text, err := clientset.CoreV1().Pods(namespace).
						GetLogs(pod.Name, &corev1.PodLogOptions{Container: status.Name, Previous: previous}).DoRaw(ctx)
					if err != nil {
						text = []byte(err.Error() + "\n") // a container that never ran has no log
					}
					fmt.Fprintf(w, "=== %s %s (previous: %t)\n%s", pod.Name, status.Name, previous, text)
				}
			}
		}
		return nil
	}
}
