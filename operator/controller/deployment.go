package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

const (
	// preStopSleepSeconds is how long a Pod serves on after its deletion began, until the last proxy knows of it.
	preStopSleepSeconds = 5
	// terminationGraceSeconds leaves the server time to end after that.
	terminationGraceSeconds = 30
)

// deployment is the child that runs a resource's Pods, of one container each. Its rollouts lose no
// request: a Pod is ready when its port accepts connections, none is removed before another is ready, and
// one that is removed serves until no proxy sends to it.
func (k resourceKind[R]) deployment(owner R, pod *corev1ac.PodSpecApplyConfiguration) *child {
	selector := k.selector(owner)
	desired := appsv1ac.Deployment(owner.GetName(), owner.GetNamespace())
	desired.ObjectMetaApplyConfiguration = k.metadata(owner, owner.GetName())
	desired.WithSpec(appsv1ac.DeploymentSpec().
		WithReplicas(k.replicas(owner)).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(selector)).
		WithStrategy(appsv1ac.DeploymentStrategy().
			WithType(appsv1.RollingUpdateDeploymentStrategyType).
			WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
				WithMaxUnavailable(intstr.FromInt32(0)))).
		WithTemplate(corev1ac.PodTemplateSpec().
			WithLabels(selector).
			WithSpec(pod.
				WithAutomountServiceAccountToken(false).
				WithTerminationGracePeriodSeconds(terminationGraceSeconds))))
	hash := hashOf(desired.Spec)
	desired.WithAnnotations(map[string]string{annotationHash: hash})

	object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: owner.GetName(), Namespace: owner.GetNamespace()}}
	return &child{
		kind:    "Deployment",
		object:  object,
		spec:    &object.Spec,
		desired: desired,
		hash:    hash,
		extract: func() (any, error) { return appsv1ac.ExtractDeployment(object, Name) },
	}
}

// portName names the port that a resource's Pods serve on, for the Service to find it by: while a rollout
// changes the port's number, each Pod is reached on its own.
const portName = "serve"

// serverContainer is a container that serves TCP on one port. A connection shows that it is ready, since what it
// answers depends on the image.
func serverContainer(name, image string, port int32) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().
		WithName(name).
		WithImage(image).
		WithPorts(corev1ac.ContainerPort().WithName(portName).WithContainerPort(port).WithProtocol(corev1.ProtocolTCP)).
		WithReadinessProbe(corev1ac.Probe().
			WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromInt32(port))).
			WithPeriodSeconds(1)).
		WithLifecycle(corev1ac.Lifecycle().
			WithPreStop(corev1ac.LifecycleHandler().
				WithSleep(corev1ac.SleepAction().WithSeconds(preStopSleepSeconds))))
}
