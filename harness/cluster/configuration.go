package cluster

import (
	"fmt"
	"reflect"
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

// configuration returns the settings that are relevant for the provider. The options must have their defaults.
func (o Options) configuration() configuration {
	if o.Provider == Existing {
		return configuration{Provider: Existing, Context: o.Context, FormatVersion: formatVersion}
	}
	wanted := configuration{Provider: o.Provider, KubernetesVersion: o.KubernetesVersion, Nodes: o.Nodes, FormatVersion: formatVersion}
	if o.Provider == KWOK {
		wanted.PodsPerNode, wanted.AuditPolicy = o.PodsPerNode, o.AuditPolicy
	} else {
		wanted.NodeImage = o.NodeImage
	}
	return wanted
}

func (c configuration) diff(other configuration) string {
	var all []string
	is, to := reflect.ValueOf(c), reflect.ValueOf(other)
	for i := range is.NumField() {
		if got, want := is.Field(i).Interface(), to.Field(i).Interface(); got != want {
			all = append(all, fmt.Sprintf("%s: got %v, want %v", is.Type().Field(i).Name, got, want))
		}
	}
	return strings.Join(all, "; ")
}
