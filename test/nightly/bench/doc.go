// Package bench measures what the operator costs, beside an ideal client that makes the same writes, on KWOK. `make bench`
// runs it.
//
// Each size N is measured on two new clusters, one after the other. In the first, the operator runs as a binary, with the
// identity and the role of its ServiceAccount. In the second, an ideal client does the operator's work: it applies what the
// operator has applied in the first, but knows at once what to write, and reads nothing. It has 20 requests in flight
// at a time. The phases:
//
//	create         a user creates N resources of 1 Pod, 20 at a time
//	idle           nothing changes (operator only)
//	scale          the user scales all resources from 1 to 2 Pods
//	child deleted  the user deletes a sample of the Deployments, one at a time
//	start          the operator is stopped, some Deployments are deleted, and it is started again (operator only)
//
// A phase ends when every status is right and the measured client has sent no request for 3 seconds.
//
// # How each figure is measured
//
//   - A time begins just before the user's first request and ends with the arrival of the watch event that makes the
//     condition true. The bench watches the resources, Deployments, ReplicaSets and Pods. No time depends on polling.
//   - A status is right if observedGeneration is the resource's generation, replicas and readyReplicas are those of the
//     spec, nodes are exactly the names of the active Pods that the current Deployment owns, all of these are Ready, and
//     Available is True.
//   - Heal latency begins with the deletion request and ends with the event of a Deployment with the same name and another
//     UID. The ideal client deletes the Deployment and applies it at once.
//   - Requests are those in the API server's audit log. Watches, leader election and requests that are about no resource,
//     such as discovery, are not counted. A refused request is counted like any other, and again as refused.
//   - The time of a start begins before the process is started, and ends when the last of 20 deleted Deployments exists again.
//     They are spread over all resources, and the first reconciliations are in no particular order, so this is
//     about the time of all of them. Only requests about the other resources are counted: none of them needs a write.
//   - CPU is user and system time in /proc, from the beginning of a phase to its end. Memory is the resident set
//     at the end of a phase, and the peak so far. The slope is the difference of the resident sets after create and idle, of
//     the largest and the smallest size, per resource.
//
// # What it cannot prove
//
// KWOK's Pods run nothing and become Ready at once, so the intermediate states of a rollout are short. The API
// server, etcd, kube-controller-manager, kube-scheduler, KWOK and the bench share the machine's CPUs with the operator. So a
// time is meaningful only as its ratio to the ideal client's, and only if other processes used little of the CPU; the
// table says how much. A resident set includes garbage that Go has not returned. Counts hardly depend on the machine, and so
// they have budgets. On a machine that is slow for its load, rollouts take longer and more statuses are written.
package bench
