package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// FailAnnotation is a Pod annotation. If it is set to "true" on a Pod with restartPolicy Never, the Pod fails.
const FailAnnotation = "assay.dev/fail"

const (
	nodeCount      = 3
	nodeWorkers    = 8
	kubeletAddress = "127.0.0.1"

	// pausedInterval is the interval at which the fake nodes check whether the namespace of a Pod is still paused.
	pausedInterval = 20 * time.Millisecond
)

// kubeletAddressType is the type of the address at which the API server connects to the kubelet. Operators ignore the
// address, because the type is not a standard one.
const kubeletAddressType corev1.NodeAddressType = "FakeKubelet"

// fakeNodes simulates the scheduler, the kubelets, a volume provisioner and a load balancer controller.
type fakeNodes struct {
	config    *rest.Config
	clientset kubernetes.Interface
	nodes     []*corev1.Node
	cache     cache.Cache
	cancel    context.CancelFunc
	running   sync.WaitGroup // the cache and the controllers
	podIPs    atomic.Uint32  // the number of assigned IPs
	addresses atomic.Uint32  // the number of assigned load balancer addresses

	syncing sync.RWMutex // held for reading by syncPod, so that PausePods can wait for it
	paused  sets.Set[string]
}

// newFakeNodes creates the Node objects. kubeletPort is the port of the fake kubelet.
func newFakeNodes(ctx context.Context, config *rest.Config, clientset kubernetes.Interface, kubeletPort int32) (*fakeNodes, error) {
	n := &fakeNodes{config: config, clientset: clientset, paused: sets.New[string]()}
	for number := 1; number <= nodeCount; number++ {
		node, err := clientset.CoreV1().Nodes().Create(ctx, newNode(number, kubeletPort), metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		n.nodes = append(n.nodes, node)
	}
	return n, nil
}

// start starts controllers that run until stop is called, even if ctx is canceled. It can be called again after stop.
func (n *fakeNodes) start(ctx context.Context) (err error) {
	ctx, n.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if n.cache, err = cache.New(n.config, cache.Options{}); err != nil {
		return err
	}
	err = errors.Join(
		n.reconcile(ctx, &corev1.Pod{}, n.syncPod),
		n.reconcile(ctx, &corev1.PersistentVolumeClaim{}, n.bindClaim),
		n.reconcile(ctx, &corev1.Service{}, n.assignAddress))
	n.running.Go(func() { _ = n.cache.Start(ctx) }) // returns when ctx is done
	return err
}

func (n *fakeNodes) stop() {
	n.cancel()
	n.running.Wait()
}

// reconcile calls step for each changed object of a kind. It does not retry NotFound and Conflict errors, because the
// object was deleted or the cache will deliver a newer version.
func (n *fakeNodes) reconcile(ctx context.Context, kind client.Object, step reconcile.Func) error {
	c, err := controller.NewUnmanaged("fake-nodes", controller.Options{
		Reconciler: reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			result, err := step(ctx, request)
			if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
				err = nil
			}
			return result, err
		}),
		MaxConcurrentReconciles: nodeWorkers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](5*time.Millisecond, time.Second),
		SkipNameValidation:      new(true),
		RecoverPanic:            new(false), // a recovered panic would only be logged
		Logger:                  logr.Discard(),
	})
	if err == nil {
		err = c.Watch(source.Kind(n.cache, kind, &handler.EnqueueRequestForObject{}))
	}
	if err == nil {
		n.running.Go(func() { _ = c.Start(ctx) }) // fails only if the cache is not filled within 2 minutes
	}
	return err
}

// syncPod performs the next step of a Pod's lifecycle: scheduling, running, completion or deletion. Each change
// contains the UID of the cached Pod, so the API server rejects the change if the Pod has been replaced.
func (n *fakeNodes) syncPod(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	n.syncing.RLock()
	defer n.syncing.RUnlock()
	if n.paused.Has(request.Namespace) {
		return reconcile.Result{RequeueAfter: pausedInterval}, nil
	}
	pod := &corev1.Pod{}
	err := n.cache.Get(ctx, request.NamespacedName, pod)
	if err == nil {
		err = n.advance(ctx, pod)
	}
	return reconcile.Result{}, err
}

func (n *fakeNodes) advance(ctx context.Context, pod *corev1.Pod) error {
	switch {
	case pod.DeletionTimestamp != nil:
		return n.finishDeletion(ctx, pod)
	case pod.Status.Phase == corev1.PodRunning && pod.Spec.RestartPolicy != corev1.RestartPolicyAlways:
		return n.complete(ctx, pod)
	case pod.Status.Phase != corev1.PodPending:
		return nil
	case slices.ContainsFunc(n.nodes, hosts(pod)):
		return n.reportRunning(ctx, pod)
	case pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) == 0:
		return n.schedule(ctx, pod)
	default:
		return nil
	}
}

func (n *fakeNodes) reportRunning(ctx context.Context, pod *corev1.Pod) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status":   n.runningStatus(pod),
	})
	if err != nil {
		return err
	}
	_, err = n.clientset.CoreV1().Pods(pod.Namespace).
		Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// complete marks the containers of a running Pod as terminated.
func (n *fakeNodes) complete(ctx context.Context, pod *corev1.Pod) error {
	status := pod.Status.DeepCopy()
	ended := corev1.ContainerStateTerminated{Reason: "Completed", FinishedAt: metav1.Now()}
	status.Phase = corev1.PodSucceeded
	if pod.Annotations[FailAnnotation] == "true" && pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		status.Phase = corev1.PodFailed
		ended.Reason, ended.ExitCode = "Error", 1
	}
	for i := range status.ContainerStatuses {
		status.ContainerStatuses[i].Ready, status.ContainerStatuses[i].Started = false, new(false)
		status.ContainerStatuses[i].State = corev1.ContainerState{Terminated: &ended}
	}
	for i, condition := range status.Conditions {
		if condition.Type == corev1.PodReady || condition.Type == corev1.ContainersReady {
			status.Conditions[i].Status, status.Conditions[i].Reason = corev1.ConditionFalse, "PodCompleted"
		}
	}
	changed := pod.DeepCopy()
	changed.Status = *status
	_, err := n.clientset.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	return err
}

// finishDeletion deletes a terminating Pod with grace period zero, as a kubelet does after the containers have stopped.
func (n *fakeNodes) finishDeletion(ctx context.Context, pod *corev1.Pod) error {
	if !slices.ContainsFunc(n.nodes, hosts(pod)) || ptr.Deref(pod.DeletionGracePeriodSeconds, 0) == 0 {
		return nil // the Pod is on another Node, or is only waiting for a finalizer
	}
	return n.clientset.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0),
		Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
	})
}

// finishInterruptedDeletions completes the deletion of Pods that was interrupted when the API server was killed. The
// API server deletes a Pod in two writes: the first sets the grace period to zero, and the second removes the Pod.
// Another delete request does not complete such a deletion, but any update does.
func (n *fakeNodes) finishInterruptedDeletions(ctx context.Context) error {
	pods, err := n.clientset.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil || ptr.Deref(pod.DeletionGracePeriodSeconds, 0) > 0 || len(pod.Finalizers) > 0 {
			continue
		}
		_, err := n.clientset.CoreV1().Pods(pod.Namespace).
			Patch(ctx, pod.Name, types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func (n *fakeNodes) runningStatus(pod *corev1.Pod) corev1.PodStatus {
	now := metav1.Now()
	count := n.podIPs.Add(1)
	ip := fmt.Sprintf("10.244.%d.%d", count>>8&0xff, count&0xff)
	hostIP := n.nodes[slices.IndexFunc(n.nodes, hosts(pod))].Status.Addresses[0].Address
	status := corev1.PodStatus{
		Phase:     corev1.PodRunning,
		StartTime: &now,
		HostIP:    hostIP,
		HostIPs:   []corev1.HostIP{{IP: hostIP}},
		PodIP:     ip,
		PodIPs:    []corev1.PodIP{{IP: ip}},
	}
	for _, condition := range []corev1.PodConditionType{
		corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady,
	} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{
			Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: now,
		})
	}
	for _, container := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name:    container.Name,
			Image:   container.Image,
			Ready:   true,
			Started: new(true),
			State:   corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	return status
}

func newNode(number int, kubeletPort int32) *corev1.Node {
	name := fmt.Sprintf("fake-node-%d", number)
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("1000"),
		corev1.ResourceMemory: resource.MustParse("1Ti"),
		corev1.ResourcePods:   resource.MustParse("10000"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname:       name,
			corev1.LabelOSStable:       "linux",
			corev1.LabelArchStable:     runtime.GOARCH,
			corev1.LabelTopologyZone:   fmt.Sprintf("zone-%d", number),
			corev1.LabelTopologyRegion: "region",
		}},
		Status: corev1.NodeStatus{
			Capacity: room, Allocatable: room,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("192.0.2.%d", number)}, // from a block that is reserved for documentation
				{Type: corev1.NodeHostName, Address: name},
				{Type: kubeletAddressType, Address: kubeletAddress},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: kubeletPort}},
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "FakeNode", LastTransitionTime: metav1.Now(),
			}},
		},
	}
}

func hosts(pod *corev1.Pod) func(*corev1.Node) bool {
	return func(node *corev1.Node) bool { return node.Name == pod.Spec.NodeName }
}
