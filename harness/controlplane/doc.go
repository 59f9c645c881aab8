// Package controlplane runs a real Kubernetes control plane for the tests of an operator.
//
// envtest runs a real etcd and kube-apiserver, and nothing else: a Deployment gets no Pods, the children of a
// deleted owner stay, and a deleted namespace never goes. Tests then do by hand what controllers would do, and test
// their own simulation. This package adds the real kube-controller-manager, so that Deployments, ReplicaSets, Pods,
// garbage collection and namespace deletion work as in a cluster, and starts in about as many seconds as envtest.
//
// Start it once for a suite and give each test a namespace of its own:
//
//	cp, err := controlplane.Start(ctx, controlplane.Options{CRDs: []string{"config/crd/bases"}})
//	defer cp.Stop()
//	namespace, err := cp.CreateNamespace(ctx, "scale")
//
// The API server authorizes with RBAC and admits as a secured cluster does: ServiceAccounts must exist, and
// blockOwnerDeletion needs the permission to update finalizers, as on OpenShift. Run the operator as a User that
// has its generated roles, not as the administrator, so that a missing permission fails a test.
//
// # What is simulated
//
// There is no scheduler and no kubelet. Three fake nodes, each a zone of its own, play both: a new Pod is bound to one of
// them at once and becomes Running and Ready some milliseconds later; a deleted Pod is visible as terminating for a
// moment. PausePods stops the fake nodes in a namespace, for tests of the states in between. There is no cloud either. A
// fake one binds claims and gives load balancers an address.
//
// A Pod runs on the Node with the fewest Pods that its anti-affinity and its topology spread constraints count, in its
// namespace, and on the first of several such. So without them all Pods are on the first Node, and four that are to be
// apart run on three Nodes nevertheless. What is required counts before what is preferred. Of the Nodes that its
// nodeSelector and node affinity choose, it is on one; if they choose none, on any.
//
// What containers would say is empty, and commands in them succeed. These annotations of a Pod tell something else:
//   - [LogsAnnotation], assay.dev/logs: the log
//   - [ExecAnnotation], assay.dev/exec: what each command prints, and its exit code
//   - [FailAnnotation], assay.dev/fail: that it fails
//
// What works like in a cluster, because its own controllers run:
//   - Deployments, ReplicaSets, StatefulSets (their Pods and claims in order, their rolling updates) and DaemonSets
//   - Jobs, which end in success: a Pod that is not to be restarted runs to its end at once, with the annotation
//     assay.dev/fail: "true" and restartPolicy Never to a failure; CronJobs
//   - claims: each is bound to a volume name of its own, whatever its class, and is protected while a Pod uses it
//   - Services of type LoadBalancer, whose status has an IP; EndpointSlices
//   - HorizontalPodAutoscalers as in a cluster without metrics: a scaled object has at least the minimum and at most the
//     maximum of replicas, and the status says that there are no metrics
//   - PodDisruptionBudgets and evictions, ResourceQuotas, ServiceAccounts, garbage collection, namespace deletion
//   - pods/log and pods/exec, over SPDY and WebSocket. A log that is followed ends with the Pod; what else is asked of a
//     log, such as its last lines, is ignored. pods/attach and pods/portforward are refused
//
// So tests on this control plane prove nothing about
//   - scheduling beyond the rule above: resources, taints, affinity to Pods, preemption; a Pod that fits nowhere
//   - images and containers: pulls, commands, crashes, restarts, init containers
//   - probes and readiness gates: every Pod is ready
//   - grace periods, preStop hooks, evictions under node pressure
//   - volumes, whose PersistentVolumes do not exist as objects; mounted ConfigMaps and Secrets
//   - the network: Service traffic, NodePorts, DNS, NetworkPolicies, ingress
//   - throttling by the API server: its priority and fairness is off, which saves a tenth of the CPU
//   - scaling by load, node failures, and the nodes, volume and certificate controllers, which are off
//
// Those need a cluster with real nodes.
//
// # What is left behind
//
// Nothing. Everything is written to one temporary folder that Stop removes. If the test process ends without Stop,
// by kill -9, a panic or go test -timeout, a watchdog removes it. Linux and macOS.
package controlplane
