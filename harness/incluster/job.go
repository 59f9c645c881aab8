package incluster

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Job is shards to be played, each by a Pod of its own.
type Job struct {
	// Project names the Job, as far as it is a name.
	Project string
	// Image is what each Pod runs, with these arguments. In them the variable JOB_COMPLETION_INDEX, which counts from 0,
	// says which of Shards is the Pod's.
	Image     string
	Arguments []string
	// Shards are the numbers of those that are to be played, of so many, counted from 1.
	Shards []int
	Of     int
	// Keep leaves the Job in the cluster.
	Keep bool
}

const (
	// backoffLimit is how often a shard's Pod is replaced that fails, or goes with its node.
	backoffLimit = 3
	// goneAfter is how many seconds a node may be unreachable before its Pods are replaced. Kubernetes itself waits for five
	// minutes.
	goneAfter = 20
	// keptFor is how many seconds a Job lasts after its end that nobody has removed, such as that of a caller that was killed.
	keptFor = 3600
	// temporarySize is for the state of control planes, logs and temporary files.
	temporarySize = "4Gi"
)

// Each Pod runs control planes and many instances of the operator. A node of two CPUs has room for three, so that it takes over
// the shard of one that goes. Without a limit of CPUs a large node would have a Pod run more instances than there is memory for.
var resources = corev1.ResourceRequirements{
	Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("2Gi")},
	Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi")},
}

// noName is what the name of a Kubernetes object cannot have.
var noName = regexp.MustCompile(`[^a-z0-9]+`)

// object is the Job as Kubernetes has it. A Pod that is about to end with its node counts as failed, so that the next one
// does not wait for a node that never comes back; a podFailurePolicy would rule that out.
func (j Job) object() *batchv1.Job {
	project := strings.Trim(noName.ReplaceAllString(strings.ToLower(j.Project), "-"), "-")
	labels := map[string]string{"app.kubernetes.io/name": "assay-explore", "app.kubernetes.io/managed-by": "assay"}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{GenerateName: fmt.Sprintf("assay-%.30s-", project), Labels: labels},
		Spec: batchv1.JobSpec{
			CompletionMode:       new(batchv1.IndexedCompletion),
			Completions:          new(int32(len(j.Shards))), //nolint:gosec // so many Pods are nowhere
			Parallelism:          new(int32(len(j.Shards))), //nolint:gosec // as above
			BackoffLimitPerIndex: new(int32(backoffLimit)),
			PodReplacementPolicy: new(batchv1.TerminatingOrFailed),
			Template:             corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: j.pod(labels)},
		},
	}
	if !j.Keep {
		job.Spec.TTLSecondsAfterFinished = new(int32(keptFor))
	}
	return job
}

// pod is what Pod Security's profile "restricted" allows.
func (j Job) pod(labels map[string]string) corev1.PodSpec {
	var tolerations []corev1.Toleration
	for _, taint := range []string{corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady} {
		tolerations = append(tolerations, corev1.Toleration{
			Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(goneAfter)),
		})
	}
	return corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(false),
		NodeSelector:                 map[string]string{corev1.LabelOSStable: "linux", corev1.LabelArchStable: runtime.GOARCH},
		Tolerations:                  tolerations,
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: labels},
		}},
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   new(true),
			RunAsUser:      new(int64(user)),
			RunAsGroup:     new(int64(user)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name:            "explore",
			Image:           j.Image,
			ImagePullPolicy: corev1.PullIfNotPresent,
			Args:            j.Arguments,
			Resources:       resources,
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false),
				ReadOnlyRootFilesystem:   new(true),
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
			VolumeMounts: []corev1.VolumeMount{{Name: "temporary", MountPath: temporary}},
		}},
		Volumes: []corev1.Volume{{Name: "temporary", VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse(temporarySize))},
		}}},
	}
}
