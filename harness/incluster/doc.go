// Package incluster explores an operator in the Pods of an Indexed Job and merges the results. Each Pod explores one
// shard. The package builds the image without a container engine. In the cluster, it only needs permission to create,
// read and delete a Job, and to read its Pods and their logs. The Pods have no ServiceAccount token; each Pod writes
// its result to the end of its log.
//
// The Job controller replaces a Pod that fails or whose node fails, up to backoffLimit times. The Job is removed at the
// end, unless Exploration.KeepJob is set.
package incluster
