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

// collectArtifacts saves the artifacts of a failed scenario and returns their directory. The logs of the control plane
// are exported once, at the end of the run.
func collectArtifacts(ctx context.Context, name, namespace string) string {
	if namespace == "" {
		return "none, because no namespace was created"
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
	logs, _ := filepath.Glob(filepath.Join(operatorLogs(), "*.log")) // the pattern is valid
	for _, log := range logs {
		collector.Logs["operator-"+filepath.Base(log)] = artifacts.File(log)
	}
	folder, err := collector.Collect(ctx, name, namespace)
	if err != nil {
		return fmt.Sprintf("%s (incomplete: %s)", folder, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return folder
}

func describePods(namespace string) artifacts.Log {
	return func(ctx context.Context, w io.Writer) error {
		text, err := kubectl(ctx, nil, "describe", "pods", "--namespace="+namespace)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		return err
	}
}

// containerLogs returns a Log with the logs of all containers in a namespace, including those before the last restart.
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
						text = []byte(err.Error() + "\n") // a container that has never run has no log
					}
					fmt.Fprintf(w, "=== %s %s (previous: %t)\n%s", pod.Name, status.Name, previous, text)
				}
			}
		}
		return nil
	}
}
