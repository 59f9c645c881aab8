package controller

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
)

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=list;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=update
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/finalizers,verbs=update

const (
	memcachedPort = 11211
	// memcachedUser is the user that the official images run memcached as.
	memcachedUser = 11211
)

// memcacheds is the kind Memcached: a Deployment NAME that meets the restricted Pod Security
// Standard.
var memcacheds = resourceKind[*memcachedv1alpha1.Memcached]{
	GroupVersionKind: memcachedv1alpha1.GroupVersion.WithKind("Memcached"),
	newObject:        func() *memcachedv1alpha1.Memcached { return &memcachedv1alpha1.Memcached{} },
	replicas:         func(mc *memcachedv1alpha1.Memcached) int32 { return mc.Spec.Size },
	children:         memcachedChildren,
	computeOwnStatus: func(*memcachedv1alpha1.Memcached, children) {},
	watchOwn:         func(*builder.Builder) {},
}

func memcachedChildren(k resourceKind[*memcachedv1alpha1.Memcached], mc *memcachedv1alpha1.Memcached) children {
	// Not -m=64, as many examples have it: a short option takes no "=", so memcached 1.6 reads 0 and ends.
	command := []string{"memcached", "--memory-limit=64", "-o", "modern", "-v"}
	pod := corev1ac.PodSpec().
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithRunAsNonRoot(true).
			WithRunAsUser(memcachedUser).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithContainers(serverContainer("memcached", string(mc.Spec.Image), memcachedPort).
			WithCommand(command...).
			WithSecurityContext(corev1ac.SecurityContext().
				WithAllowPrivilegeEscalation(false).
				WithReadOnlyRootFilesystem(true).
				WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))))
	return children{deployment: k.deployment(mc, pod)}
}
