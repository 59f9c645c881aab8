// Package cluster provides clusters for end-to-end tests. A cluster is created with kind or KWOK, or already exists.
//
// If a local Docker engine is available, the default is kind, whose nodes run containers. Otherwise it is KWOK, which
// combines a real control plane, including scheduler, RBAC and admission, with simulated nodes. All have the same API:
//
//	options, err := cluster.FromEnvironment()
//	c, err := cluster.Open(ctx, options)
//	defer c.Close(ctx, false)
//
// # Files
//
// Each cluster has a private kubeconfig. The user's own kubeconfig is never modified, and it is only read to connect to
// an existing cluster, which is selected by its context. A cluster's files are in the user's cache directory
// (os.UserCacheDir, which honors XDG_CACHE_HOME), in assay/clusters/NAME. They are removed together with the cluster.
// Only one run can use a name at a time.
//
// # Kept clusters
//
// If Close is called with keep, the next Open with the same name and configuration reuses the cluster. Open returns an
// error if the configuration is different. It replaces a cluster that was left behind by a killed run. Delete removes
// a kept cluster.
//
// # What KWOK simulates
//
// Pods are scheduled, become Running and Ready, and terminate when they are deleted. No images are pulled and no
// containers run, so there is no network traffic and there are no logs. Nodes never fail.
//
// # Why not use the providers of e2e-framework
//
// The packages support/kind and support/kwok of e2e-framework (v0.7.0) install and run the kind and kwokctl commands.
// They reuse a cluster with the same name without checking its version or nodes, do not wait until Pods are ready, and
// do not clean up after an interruption.
package cluster
