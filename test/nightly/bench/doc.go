// Package bench measures the cost of the operator on KWOK, in comparison with an ideal client that makes the same
// writes. Use `make bench` to run it.
//
// Each size N is measured on two new clusters, one after the other. On the first cluster, the operator runs as a
// process with the identity and the role of its ServiceAccount. On the second cluster, an ideal client replaces the
// operator. It applies the same objects as the operator, but it does not read anything, because it already knows what
// to write. It sends up to 20 requests in parallel. These are the phases:
//
//	create         a user creates N resources with 1 Pod each, 20 at a time
//	idle           nothing changes (operator only)
//	scale          the user scales all resources from 1 to 2 Pods
//	child deleted  the user deletes a sample of the Deployments, one at a time
//	start          the operator is stopped, some Deployments are deleted, and it is started again (operator only)
//
// A phase ends when every status is right and the measured client has sent no request for 3 seconds.
//
// # How the results are measured
//
//   - A time is measured from just before the user's first request until the arrival of the watch event that makes the
//     condition true. The bench watches the resources, Deployments, ReplicaSets and Pods. No time depends on polling.
//   - A status is right if observedGeneration is the generation of the resource, replicas and readyReplicas match the
//     spec, nodes contains exactly the names of the active Pods of the current Deployment, all of these Pods are Ready,
//     and Available is True.
//   - The heal latency is measured from the delete request until the event of a Deployment with the same name and a
//     different UID. The ideal client applies the Deployment immediately after deleting it.
//   - Requests are counted in the API server's audit log. Watches, leader election and non-resource requests, such as
//     discovery, are not counted. A rejected request is counted as a request and also as rejected.
//   - The start time is measured from before the process is started until the last of 20 deleted Deployments has been
//     recreated. These are spread over all resources, which are first reconciled in no particular order, so it is about the
//     time for reconciling all of them. Only requests for the other resources are counted, which need no writes.
//   - CPU time is the user and system time in /proc during a phase. Memory is the resident set size at the end of a
//     phase, and its peak so far. The slope is the growth of the resident set size after the idle phase, per
//     resource, between the smallest and the largest size.
//
// # Limitations
//
// KWOK's Pods do not run containers and become Ready immediately, so the intermediate states of a rollout are short.
// The API server, etcd, kube-controller-manager, kube-scheduler, KWOK and the bench share the CPUs with the operator.
// A time is therefore only meaningful relative to the ideal client, and only if other processes used little CPU time,
// which the table shows. The resident set size includes garbage that Go has not returned to the operating system.
//
// The numbers of requests hardly depend on the machine, so they have budgets. On a slow machine, rollouts take longer
// and cause more status updates.
package bench
