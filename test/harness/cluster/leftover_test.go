package cluster

import (
	"os"
	"path/filepath"
	"testing"
)

func TestJudge(t *testing.T) {
	wanted := configuration{Provider: KWOK, KubernetesVersion: "v1.37.0", Nodes: 2, Recipe: recipe}
	other := wanted
	other.Nodes = 3
	theirs := configuration{Provider: Existing, Context: "theirs", Recipe: recipe}
	for name, test := range map[string]struct {
		found *record
		want  verdict
	}{
		"nothing":                        {nil, makeNew},
		"the same, kept":                 {&record{wanted, true}, attach},
		"the same, of a killed run":      {&record{wanted, false}, replace},
		"another, kept":                  {&record{other, true}, refuse},
		"another, of a killed run":       {&record{other, false}, replace},
		"the kubeconfig of somebody's":   {&record{theirs, true}, makeNew},
		"the kubeconfig of a killed run": {&record{theirs, false}, makeNew},
	} {
		if got := judge(test.found, wanted); got != test.want {
			t.Errorf("%s: the verdict is %d, not %d", name, got, test.want)
		}
	}
}

func TestDifferencesAreToldInWords(t *testing.T) {
	a := configuration{Provider: Kind, KubernetesVersion: "v1.37.0", Nodes: 1, Recipe: 1}
	b := configuration{Provider: Kind, KubernetesVersion: "v1.36.4", Nodes: 3, Recipe: 1}
	if got, want := a.differences(b), "of Kubernetes v1.37.0, not v1.36.4, of 1 nodes, not 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := a.differences(configuration{Provider: KWOK}), "kind, not kwok"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOnlyWhatAProviderTakesNoticeOfCounts(t *testing.T) {
	on := func(provider Provider) configuration {
		return Options{Provider: provider, Context: "c", Nodes: 1, NodeImage: "i", KubernetesVersion: "v", PodsPerNode: 2, AuditPolicy: "p"}.configuration()
	}
	for provider, want := range map[Provider]configuration{
		Kind:     {Provider: Kind, KubernetesVersion: "v", Nodes: 1, NodeImage: "i", Recipe: recipe},
		KWOK:     {Provider: KWOK, KubernetesVersion: "v", Nodes: 1, PodsPerNode: 2, AuditPolicy: "p", Recipe: recipe},
		Existing: {Provider: Existing, Context: "c", Recipe: recipe},
	} {
		if got := on(provider); got != want {
			t.Errorf("%s: %+v", provider, got)
		}
	}
}

func TestAPlaceIsHeldByOne(t *testing.T) {
	clusters := own(t)
	first, err := occupy("mine")
	if err != nil {
		t.Fatal(err)
	}
	_, err = occupy("mine")
	expectRefusal(t, err, `another run uses the cluster "mine"`, clusterVariable)
	other, err := occupy("other")
	if err != nil {
		t.Fatal(err)
	}
	if err := first.leave(); err != nil {
		t.Fatal(err)
	}
	again, err := occupy("mine")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*place{again, other} {
		if err := p.leave(); err != nil {
			t.Fatal(err)
		}
	}
	expectNothing(t, clusters)
}

func TestAPlaceRemembersItsCluster(t *testing.T) {
	own(t)
	p, err := occupy("mine")
	if err != nil {
		t.Fatal(err)
	}
	if found, err := p.read(); found != nil || err != nil {
		t.Errorf("of nothing it remembers %+v, %v", found, err)
	}
	want := record{configuration{Provider: Kind, KubernetesVersion: "v1.37.0", Nodes: 3, NodeImage: "i", Recipe: recipe}, true}
	if err := p.write(want); err != nil {
		t.Fatal(err)
	}
	if err := p.leave(); err != nil {
		t.Fatal(err)
	}
	if p, err = occupy("mine"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.leave() }()
	if found, err := p.read(); err != nil || *found != want {
		t.Errorf("it remembers %+v, %v", found, err)
	}
	if err := os.WriteFile(p.recordFile(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = p.read()
	expectRefusal(t, err, p.recordFile(), "by hand")
}

func TestAPlaceThatCannotBeWrittenIsExplained(t *testing.T) {
	own(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", file)
	t.Setenv("XDG_CACHE_HOME", file)
	_, err := occupy("mine")
	expectRefusal(t, err, file, "set XDG_CACHE_HOME")
}
