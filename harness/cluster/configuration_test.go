package cluster

import "testing"

func TestConfigurationOmitsUnusedOptions(t *testing.T) {
	for provider, want := range map[Provider]configuration{
		Kind:     {Provider: Kind, KubernetesVersion: "v", Nodes: 1, NodeImage: "i", FormatVersion: formatVersion},
		KWOK:     {Provider: KWOK, KubernetesVersion: "v", Nodes: 1, PodsPerNode: 2, AuditPolicy: "p", FormatVersion: formatVersion},
		Existing: {Provider: Existing, Context: "c", FormatVersion: formatVersion},
	} {
		o := Options{Provider: provider, Context: "c", Nodes: 1, NodeImage: "i", KubernetesVersion: "v", PodsPerNode: 2, AuditPolicy: "p"}
		if got := o.configuration(); got != want {
			t.Errorf("%s: got differences %s", provider, got.diff(want))
		}
	}
}
