// Package cluster creates the clusters that end-to-end tests run on: kind, kwok, or one that exists.
//
// End-to-end tests need a cluster, and not everybody has the same one at hand. With a Docker engine there is kind,
// whose nodes run containers. Without one there is kwok: the real control plane with its scheduler, RBAC and
// admission, whose nodes only simulate containers. And there is the cluster that a user has already. Tests open any
// of them in the same way:
//
//	options, err := cluster.FromEnvironment()
//	c, err := cluster.Open(ctx, options)
//	defer c.Close(ctx, false)
//
// # What it touches
//
// A cluster's kubeconfig is private. The user's own is read only for an existing cluster, by the name of its
// context, and is never written. Everything that belongs to a cluster lies in a folder of its name in the user's
// cache folder (os.UserCacheDir, which honours XDG_CACHE_HOME) under assay/clusters, and is removed with it. Only
// one run at a time may use a name.
//
// # What is kept
//
// A cluster that was closed with keep stays, and the next Open of the same name and configuration reuses it. One of
// another configuration is an error, since somebody may need it. What a killed run has left is replaced. Delete
// removes a kept cluster.
//
// # What kwok simulates
//
// Pods are scheduled, become Running and Ready, and end when they are deleted; no image is pulled, no container
// runs, nothing answers on the network, and there are no logs. Nodes never fail.
package cluster
