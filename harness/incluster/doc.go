// Package incluster runs a command in the Pods of an Indexed Job and collects the results. Each Pod explores one
// shard. The package builds the image without a container engine. In the cluster, it only needs permission to create,
// read and delete a Job, and to read its Pods and their logs. The Pods have no ServiceAccount token; each Pod writes
// its result to the end of its log.
//
//	image, err := incluster.NewImage("/project/memcached", layers, nil, []string{"/assay", "explore"})
//	reference, err := cluster.Push(ctx, image, "registry.example.com/me/explore")
//	err = cluster.Play(ctx, incluster.Job{Project: "memcached", Image: reference, …}, progress, keep)
//
// The Job controller replaces a Pod that fails or whose node fails, up to backoffLimit times. Play removes the Job
// before it returns, unless Job.Keep is set.
package incluster
