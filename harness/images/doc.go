// Package images provides container images in a Docker engine, and saves them to an archive for the nodes of a cluster.
//
// Pull gets published images from their registry. Many company networks can reach only a Debian mirror and a Go module
// proxy. For those networks, BuildFromDebian builds server images from Debian packages, and NodeImage builds a kind
// node image. Built images have their own names and are only rebuilt if their recipe changes.
//
// # The built node image
//
// The node image that this package builds is not kindest/node. It contains a Debian root file system, the files in
// kind's base image and the executables from package binaries. It differs from the published image:
//   - The images of the control plane have the names that kubeadm expects, such as registry.k8s.io/kube-apiserver. They
//     contain the real programs, but were built here.
//   - The pause image is built from this package and has its own name.
//   - A service on each node replaces kindnet. It supports only IPv4 and no network policies.
//   - There is no volume provisioner.
//   - There is no stop signal, so `docker stop` kills a node after ten seconds.
//
// Loading images, exporting logs and multiple nodes work. A build requires Linux and root, and takes several minutes.
package images
