package cluster

import (
	"fmt"
	"strings"
)

// formatVersion must be incremented when this package creates clusters differently for the same configuration.
const formatVersion = 3

// configuration contains the settings that must match for a cluster to be reused.
type configuration struct {
	Provider          Provider `json:"provider"`
	Context           string   `json:"context,omitempty"`
	KubernetesVersion string   `json:"kubernetesVersion,omitempty"`
	Nodes             int      `json:"nodes,omitempty"`
	NodeImage         string   `json:"nodeImage,omitempty"`
	PodsPerNode       int      `json:"podsPerNode,omitempty"`
	AuditPolicy       string   `json:"auditPolicy,omitempty"`
	FormatVersion     int      `json:"recipe"`
}

// configuration returns the settings that are relevant for the provider. The options must be complete.
func (o Options) configuration() configuration {
	if o.Provider == Existing {
		return configuration{Provider: Existing, Context: o.Context, FormatVersion: formatVersion}
	}
	wanted := configuration{Provider: o.Provider, KubernetesVersion: o.KubernetesVersion, Nodes: o.Nodes, FormatVersion: formatVersion}
	if o.Provider == Kind {
		wanted.NodeImage = o.NodeImage
	}
	if o.Provider == KWOK {
		wanted.PodsPerNode, wanted.AuditPolicy = o.PodsPerNode, o.AuditPolicy
	}
	return wanted
}

func (c configuration) diff(other configuration) string {
	if c.Provider != other.Provider {
		return fmt.Sprintf("provider: got %s, want %s", c.Provider, other.Provider)
	}
	var all []string
	for _, field := range []struct {
		format string
		is, to any
	}{
		{"context: got %v, want %v", c.Context, other.Context},
		{"Kubernetes version: got %v, want %v", c.KubernetesVersion, other.KubernetesVersion},
		{"nodes: got %v, want %v", c.Nodes, other.Nodes},
		{"node image: got %q, want %q", c.NodeImage, other.NodeImage},
		{"Pods per node: got %v, want %v", c.PodsPerNode, other.PodsPerNode},
		{"audit policy: got %q, want %q", c.AuditPolicy, other.AuditPolicy},
		{"format version: got %v, want %v", c.FormatVersion, other.FormatVersion},
	} {
		if field.is != field.to {
			all = append(all, fmt.Sprintf(field.format, field.is, field.to))
		}
	}
	return strings.Join(all, "; ")
}
