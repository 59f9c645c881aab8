// Package controlplane runs a real Kubernetes control plane for testing operators.
//
// envtest only runs etcd and kube-apiserver: no controller creates Pods for a Deployment, a deleted owner's children
// are not removed, and a deleted namespace never disappears. A test has to do by hand what controllers would do, and
// then tests its own simulation. This package adds the real kube-controller-manager, so that Deployments, ReplicaSets,
// Pods, garbage collection and namespace deletion work as in a cluster. It starts about as fast as envtest.
//
// Start one control plane per suite, and create a namespace for each test:
//
//	cp, err := controlplane.Start(ctx, controlplane.Options{CRDs: []string{"config/crd/bases"}})
//	defer cp.Stop()
//	namespace, err := cp.CreateNamespace(ctx, "scale")
//
// The API server uses RBAC and the same admission plugins as a secured cluster: ServiceAccounts must exist, and
// setting blockOwnerDeletion requires permission to update finalizers, as on OpenShift. Run the operator as a User
// with its generated roles instead of as the administrator, so that a missing permission fails a test.
//
// # What is simulated
//
// There is no scheduler and no kubelet. Three fake nodes replace them, each in its own zone. They bind a new Pod to a
// Node immediately and report it as Running and Ready a few milliseconds later. A deleted Pod stays in the
// terminating state for a moment. Use PausePods to stop the fake nodes in a namespace and test the intermediate
// states. A fake cloud binds claims and assigns addresses to load balancers.
//
// A Pod runs on the first Node that matches its nodeSelector and node affinity, or on the first Node if none match.
//
// By default, container logs are empty, and commands succeed without output. These Pod annotations change that:
//   - [LogsAnnotation], assay.dev/logs: the log of the containers
//   - [ExecAnnotation], assay.dev/exec: the output and exit code of each command
//   - [FailAnnotation], assay.dev/fail: whether the Pod fails
//
// The following features work as in a cluster, because their real controllers run:
//   - Deployments, ReplicaSets, StatefulSets (ordered Pods and claims, rolling updates) and DaemonSets
//   - CronJobs and Jobs. Their Pods complete immediately. A Pod succeeds, unless it has restartPolicy Never and the
//     annotation assay.dev/fail: "true"
//   - PersistentVolumeClaims. Each claim is bound to its own volume name, regardless of its class, and is protected
//     while a Pod uses it
//   - EndpointSlices, Endpoints, and Services of type LoadBalancer, which get an IP in their status
//   - HorizontalPodAutoscalers, as in a cluster without metrics: the number of replicas stays between the minimum and
//     the maximum, and the status reports that there are no metrics
//   - PodDisruptionBudgets and evictions, ResourceQuotas, ServiceAccounts, garbage collection, namespace deletion
//   - pods/log and pods/exec, over SPDY and WebSocket. Log options, such as follow and tailLines, are ignored.
//     pods/attach and pods/portforward are rejected
//
// Use a cluster with real nodes to test the following, which this control plane does not support:
//   - scheduling beyond the rule above: resources, taints, Pod affinity and anti-affinity, topology spread constraints,
//     preemption, unschedulable Pods
//   - images and containers: pulls, commands, crashes, restarts, init containers
//   - probes and readiness gates, because every Pod becomes ready
//   - grace periods, preStop hooks, evictions under node pressure
//   - volumes, because no PersistentVolume objects are created; mounted ConfigMaps and Secrets
//   - the network: Service traffic, NodePorts, DNS, NetworkPolicies, ingress
//   - throttling by the API server: API Priority and Fairness is disabled, which saves a tenth of the CPU time
//   - load-based scaling, node failures, and the node, volume and certificate controllers, which are disabled
//
// # Cleanup
//
// All files are in one temporary directory, which Stop removes. If the test process ends without calling Stop (kill
// -9, a panic, or go test -timeout), a watchdog process removes the directory. This works on Linux and macOS.
package controlplane
