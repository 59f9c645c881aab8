// Package config embeds the CRDs, roles and samples of the operator.
package config

import "embed"

// CRDs contains the CustomResourceDefinitions.
//
//go:embed crd/bases/*.yaml
var CRDs embed.FS

// Role contains the generated ClusterRole and Role of the operator.
//
//go:embed rbac/role.yaml
var Role []byte

// WebServerSample is the manifest of a sample WebServer.
//
//go:embed samples/my_v1_webserver.yaml
var WebServerSample []byte

// MemcachedSample is the manifest of a sample Memcached.
//
//go:embed samples/cache_v1alpha1_memcached.yaml
var MemcachedSample []byte
