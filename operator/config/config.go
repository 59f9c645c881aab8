// Package config makes the manifests that kustomize assembles readable to Go programs, wherever
// they run: the CRDs, the roles and the samples.
package config

import "embed"

// CRDs holds crd/bases/*.yaml.
//
//go:embed crd/bases/*.yaml
var CRDs embed.FS

// Role is the ClusterRole and the Role that the operator works under, as generated from its markers.
//
//go:embed rbac/role.yaml
var Role []byte

// WebServerSample is a WebServer for users to start from.
//
//go:embed samples/my_v1_webserver.yaml
var WebServerSample []byte

// MemcachedSample is a Memcached for users to start from.
//
//go:embed samples/cache_v1alpha1_memcached.yaml
var MemcachedSample []byte
