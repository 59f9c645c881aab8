// Package bench measures what the operator costs, beside an ideal client that makes the same writes, on KWOK. `make bench` runs it.
//
// For each size N there are two new clusters of the same kind. In the first, the operator runs as a binary, with the
// identity and the role of its ServiceAccount. In the second, an ideal client does the operator's work: it knows at once what to
// write, and writes it 20 requests at a time. The phases are the same:
//
//	create         a user creates N resources of 1 Pod, 20 at a time
//	idle           nobody does anything
//	scale          the user scales all of them from 1 to 2 Pods
//	child deleted  the user deletes a sample of the Deployments, one after the other
//	start          the operator is stopped, some Deployments are deleted, and it is started again
//
// A phase ends when every status is right and the measured client has sent no request for quietWindow.
//
// # How each figure is measured
//
//   - Times are from just before the user's first request to the arrival of the watch event that makes the condition true.
//     The bench watches the resources, their Deployments, ReplicaSets and Pods; it polls nothing that a time depends on.
//   - A status is right when observedGeneration is the resource's generation, replicas and readyReplicas are what the
//     spec asks for, nodes are exactly the names of the active Pods that belong to the current Deployment by their owner
//     references, all of these Pods are Ready, and Available is True.
//   - Heal latency is from the deletion's request to the event of a Deployment of the same name with another UID. The ideal
//     client's is a delete and an apply of the same Deployment, one after the other.
//   - Requests are those of the API server's audit log, by user. Watches, leader election and requests that are
//     about no resource (discovery) are left out. Refused requests are counted as what they are, and once more as refused.
//   - The time of a start is from the process's start until the last of startProbes deleted Deployments is there again.
//     They are spread over all resources, and a first wave of reconciliations takes these in no particular order, so that this is about
//     the time of the whole wave. Requests about all other resources are counted: nothing is to be done for these.
//   - CPU is the operator's user and system time, as /proc has it, from the beginning of a phase to its end. Memory is the
//     resident set at the end of a phase, and the highest so far. The slope is the difference of the resident sets after create and
//     idle at the smallest and the largest size, by the difference of their resources.
//
// # What it cannot prove
//
// KWOK's Pods become Ready at once and run nothing, so that a rollout's intermediate states are short. The API server, etcd,
// kube-controller-manager, kube-scheduler, KWOK and the bench share the machine's cores with the operator: what
// a time says is its ratio to the ideal client's in the same run, and that, too, depends on how many cores there are. A resident set
// includes garbage that Go has not given back. Counts do not depend on the machine, and are what a budget is for.
package bench
