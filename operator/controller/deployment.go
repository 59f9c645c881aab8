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

// drainSeconds is how long a Pod goes on serving after its deletion began, until the last proxy has
// heard of it.
const drainSeconds = 5

// deployment is the child that runs a resource's Pods, of one container each. Its rollouts lose no
// request: a Pod is counted in when its port accepts connections, none is taken away before another
// has come, and one that goes serves on until nobody is sent there any more.
func (k kind[R]) deployment(owner R, pod *corev1ac.PodSpecApplyConfiguration) *child {
	selector := k.selector(owner)
	want := appsv1ac.Deployment(owner.GetName(), owner.GetNamespace())
	want.ObjectMetaApplyConfiguration = k.metadata(owner).WithName(owner.GetName()).WithNamespace(owner.GetNamespace())
	want.WithSpec(appsv1ac.DeploymentSpec().
		WithReplicas(k.replicas(owner)).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(selector)).
		WithStrategy(appsv1ac.DeploymentStrategy().
			WithType(appsv1.RollingUpdateDeploymentStrategyType).
			WithRollingUpdate(appsv1ac.RollingUpdateDeployment().WithMaxUnavailable(intstr.FromInt32(0)))).
		WithTemplate(corev1ac.PodTemplateSpec().
			WithLabels(selector).
			WithSpec(pod.WithAutomountServiceAccountToken(false))))

	object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: owner.GetName(), Namespace: owner.GetNamespace()}}
	return &child{
		kind:   "Deployment",
		object: object,
		want:   want,
		held:   func() (any, error) { return appsv1ac.ExtractDeployment(object, Name) },
		rivals: func() []edit { return rivalsInDeployment(object, pod) },
	}
}

// portName names the port that a resource's Pods serve on, for the Service to find it by: in a
// rollout to another number, each Pod is reached on its own.
const portName = "serve"

// server is a container that serves TCP on one port. A connection is what tells that it is ready,
// since what it answers is the image's own affair.
func server(name, image string, port int32) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().
		WithName(name).
		WithImage(image).
		WithPorts(corev1ac.ContainerPort().WithName(portName).WithContainerPort(port).WithProtocol(corev1.ProtocolTCP)).
		WithReadinessProbe(corev1ac.Probe().
			WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromInt32(port))).
			WithPeriodSeconds(1)).
		WithLifecycle(corev1ac.Lifecycle().
			WithPreStop(corev1ac.LifecycleHandler().
				WithSleep(corev1ac.SleepAction().WithSeconds(drainSeconds))))
}
