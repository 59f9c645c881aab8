package incluster

import (
	"runtime"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Job describes a Job in which each Pod explores one shard.
type Job struct {
	Operator  string // its name, for the user
	Image     string
	Arguments []string
	Shards    int
	Keep      bool
}

const (
	// user is the user ID and the group ID of the container.
	user = 65532
	// temporary is the only writable directory in a Pod.
	temporary = "/tmp"
	// backoffLimit is how many times a shard's Pod is replaced after a failure.
	backoffLimit = 3
	// unreachableSeconds is how long a Pod stays on an unreachable node. The default is five minutes.
	unreachableSeconds = 20
	// ttlSeconds makes Kubernetes remove the finished Job even if the caller was killed.
	ttlSeconds = 3600
	// temporarySize is the size limit of the volume for control-plane state, logs and temporary files.
	temporarySize = "4Gi"
)

// Each Pod runs several control planes and many instances of the operator. Three Pods fit on a node with two CPUs, so
// that the node can also run the shards of a failed node. The CPU limit also bounds memory use, because it determines
// how many instances run at the same time.
var resources = corev1.ResourceRequirements{
	Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("2Gi")},
	Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi")},
}

// object returns the Job. Its podReplacementPolicy is TerminatingOrFailed, because Pods on a failed node may never
// terminate. This policy cannot be combined with a podFailurePolicy.
func (j Job) object() *batchv1.Job {
	labels := map[string]string{"app.kubernetes.io/name": "assay-explore", "app.kubernetes.io/managed-by": "assay"}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "assay-explore-", Labels: labels, Annotations: map[string]string{"assay/operator": j.Operator}},
		Spec: batchv1.JobSpec{
			CompletionMode:       new(batchv1.IndexedCompletion),
			Completions:          new(int32(j.Shards)), //nolint:gosec // the number of shards fits into an int32
			Parallelism:          new(int32(j.Shards)), //nolint:gosec // as above
			BackoffLimitPerIndex: new(int32(backoffLimit)),
			PodReplacementPolicy: new(batchv1.TerminatingOrFailed),
			Template:             corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: j.pod(labels)},
		},
	}
	if !j.Keep {
		job.Spec.TTLSecondsAfterFinished = new(int32(ttlSeconds))
	}
	return job
}

// pod returns a Pod spec that meets the restricted Pod Security Standard.
func (j Job) pod(labels map[string]string) corev1.PodSpec {
	var tolerations []corev1.Toleration
	for _, taint := range []string{corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady} {
		tolerations = append(tolerations, corev1.Toleration{
			Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(unreachableSeconds)),
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
