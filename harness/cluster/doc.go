// Package cluster creates the clusters that end-to-end tests run on: kind, kwok, or one that exists.
//
// With a Docker engine there is kind, whose nodes run containers. Without one there is kwok: the real control plane with
// its scheduler, RBAC and admission, and simulated nodes. And there are existing clusters. Tests open all of them alike:
//
//	options, err := cluster.FromEnvironment()
//	c, err := cluster.Open(ctx, options)
//	defer c.Close(ctx, false)
//
// # What it touches
//
// A cluster's kubeconfig is private. The user's own is read only for an existing cluster, which is named by its context,
// and is never written. The files of a cluster are in a folder of its name in the user's cache folder (os.UserCacheDir,
// which honours XDG_CACHE_HOME) under assay/clusters, and are deleted with it. Only one run at a time may use a name.
//
// # What is kept
//
// A cluster that was closed with keep stays, and the next Open of the same name and configuration returns it at once.
// Open refuses one of another configuration, and replaces one that a killed run has left. Delete deletes a kept one.
//
// # What kwok simulates
//
// Pods are scheduled, become Running and Ready, and end when they are deleted. No image is pulled, no container runs,
// nothing answers on the network, and there are no logs. Nodes never fail.
//
// # Why not e2e-framework's providers
//
// The suite of test/e2e runs on e2e-framework, but its support/kind and support/kwok (v0.7.0) do less than tests need. They
// run the kind and kwokctl commands, which they install if they are missing, kwokctl as v0.5.0. They reuse a cluster of the
// same name silently, whatever its version or nodes. kind's counts Pods instead of waiting until they are ready; kwok's does
// not wait. Neither serves a cluster's ports on the loopback device only, replaces what a killed run has left, removes what
// an interrupted one has begun, or builds what cannot be pulled.
package cluster
