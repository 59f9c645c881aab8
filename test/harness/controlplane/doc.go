// Package controlplane runs a real Kubernetes control plane for the tests of an operator.
//
// envtest brings a real etcd and kube-apiserver, and there it ends: a Deployment gets no Pods,
// a deleted owner leaves its children behind, and a deleted namespace never goes. Tests then play
// those parts by hand, and prove what they played. This package adds the real
// kube-controller-manager, so that Deployments, ReplicaSets, Pods, garbage collection and the end
// of a namespace are what they are in a cluster, in about as many seconds as envtest alone.
//
// Start it once for a suite and give each test a namespace of its own:
//
//	cp, err := controlplane.Start(ctx, controlplane.Options{CRDs: []string{"config/crd/bases"}})
//	defer cp.Stop()
//	namespace, err := cp.CreateNamespace(ctx, "scale")
//
// The API server authorizes with RBAC and admits as a secured cluster does: ServiceAccounts must
// exist, and blockOwnerDeletion needs the permission to update finalizers, as on OpenShift. Run
// the operator as a User that holds its generated roles, not as the administrator, and a missing
// permission fails a test instead of a customer.
//
// # What is simulated
//
// There is no scheduler and no kubelet. One Node object and a stand-in play both: a new Pod is
// bound to that node at once and becomes Running and Ready some milliseconds later; a Pod that is
// deleted is visible as terminating for a moment, then gone. HoldPods stops that play for a
// namespace, for tests of what happens in between.
//
// So tests on this control plane prove nothing about
//   - scheduling: resources, affinity, taints, topology, preemption
//   - images and containers: pulls, commands, crashes, restarts, logs, exit codes, init
//     containers, the completion of Jobs
//   - probes and readiness gates: every Pod is ready
//   - grace periods, preStop hooks, evictions under node pressure
//   - volumes, mounted ConfigMaps and Secrets
//   - the network: Service traffic, NodePorts, DNS, NetworkPolicies, ingress
//   - throttling by the API server: its priority and fairness is off, for it costs a tenth of the CPU
//   - node failures, and the nodes, volume, certificate and autoscaling controllers, which are off
//
// Those need a cluster with real nodes.
//
// # What remains behind
//
// Nothing. Everything written lies in one temporary folder that Stop removes. When the test
// process dies without a Stop, by kill -9, a panic or go test -timeout, a watchdog does it.
// Linux and macOS.
package controlplane
