// Package incluster runs a command as the Pods of an Indexed Job, each of which plays one shard, and brings back what each
// has found. It builds the image without a container engine, and needs nothing in the cluster but the right to create a
// Job and to read its Pods and their logs: a Pod has no ServiceAccount token, and its result is the end of its log.
//
//	image, err := incluster.NewImage("/project/memcached", files, []string{"/assay", "explore"})
//	reference, err := cluster.Push(ctx, image, "registry.example.com/me/explore")
//	err = cluster.Play(ctx, incluster.Job{Project: "memcached", Image: reference, …}, progress, keep)
//
// A Pod that goes with its node, or fails in another way, is replaced up to backoffLimit times. The Job is removed when
// Play returns, whatever the reason.
package incluster
