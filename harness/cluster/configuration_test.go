package cluster

import "testing"

func TestConfigurationDiff(t *testing.T) {
	a := configuration{Provider: Kind, KubernetesVersion: "v1.37.0", Nodes: 1, FormatVersion: 1}
	b := configuration{Provider: Kind, KubernetesVersion: "v1.36.4", Nodes: 3, FormatVersion: 1}
	if got, want := a.diff(b), "Kubernetes version: got v1.37.0, want v1.36.4; nodes: got 1, want 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := a.diff(configuration{Provider: KWOK}), "provider: got kind, want kwok"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestConfigurationOmitsUnusedOptions(t *testing.T) {
	on := func(provider Provider) configuration {
		return Options{Provider: provider, Context: "c", Nodes: 1, NodeImage: "i", KubernetesVersion: "v", PodsPerNode: 2, AuditPolicy: "p"}.configuration()
	}
	for provider, want := range map[Provider]configuration{
		Kind:     {Provider: Kind, KubernetesVersion: "v", Nodes: 1, NodeImage: "i", FormatVersion: formatVersion},
		KWOK:     {Provider: KWOK, KubernetesVersion: "v", Nodes: 1, PodsPerNode: 2, AuditPolicy: "p", FormatVersion: formatVersion},
		Existing: {Provider: Existing, Context: "c", FormatVersion: formatVersion},
	} {
		if got := on(provider); got != want {
			t.Errorf("%s: got %+v, want %+v", provider, got, want)
		}
	}
}
