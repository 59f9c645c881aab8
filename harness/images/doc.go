// Package images brings images into a Docker engine, and out of it in one archive for a cluster's nodes.
//
// Where a registry answers, they are the published ones (Pull). Where none does, but a mirror of Debian and a Go module
// proxy, as behind many a company's network, they are built: servers of Debian's packages (BuildFromDebian), and kind's
// nodes of those and of Go modules (NodeImage). What is built has a name of its own, and is built once: a label or tag
// holds the hash of its recipe.
//
// # The node image that is built
//
// It is a Debian root, the files of kind's module that make it a node, and executables of package binaries. It is not
// kindest/node. What kubeadm deploys is there under the names that kubeadm expects, registry.k8s.io/kube-apiserver and so
// on: each the real program of that version, but on an image of this package's making, and so no image of that registry.
// The pause process is this package's own, under a name of its own. In place of kindnet a service of each node connects
// Pods, over IPv4 and without network policies; and a volume claim finds no provisioner. Loading images, exporting logs and
// several nodes work. To build it takes Linux, root and minutes, once for each version.
package images
