package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestConfigurationDiff(t *testing.T) {
	a := configuration{Provider: Kind, KubernetesVersion: "v1.37.0", Nodes: 1, Recipe: 1}
	b := configuration{Provider: Kind, KubernetesVersion: "v1.36.4", Nodes: 3, Recipe: 1}
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
		Kind:     {Provider: Kind, KubernetesVersion: "v", Nodes: 1, NodeImage: "i", Recipe: formatVersion},
		KWOK:     {Provider: KWOK, KubernetesVersion: "v", Nodes: 1, PodsPerNode: 2, AuditPolicy: "p", Recipe: formatVersion},
		Existing: {Provider: Existing, Context: "c", Recipe: formatVersion},
	} {
		if got := on(provider); got != want {
			t.Errorf("%s: got %+v, want %+v", provider, got, want)
		}
	}
}

func TestStateDirIsLocked(t *testing.T) {
	clusters := own(t)
	first, err := lockStateDir("mine")
	if err != nil {
		t.Fatal(err)
	}
	_, err = lockStateDir("mine")
	expectRefusal(t, err, `another run uses cluster "mine"`, nameOption)
	other, err := lockStateDir("other")
	if err != nil {
		t.Fatal(err)
	}
	if err := first.unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := lockStateDir("mine")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*stateDir{again, other} {
		if err := d.unlock(); err != nil {
			t.Fatal(err)
		}
	}
	expectNothing(t, clusters)
}

func TestStateDirRoundTrip(t *testing.T) {
	own(t)
	d, err := lockStateDir("mine")
	if err != nil {
		t.Fatal(err)
	}
	if found, err := d.read(); found != nil || err != nil {
		t.Errorf("new directory: got state %+v (error %v), want none", found, err)
	}
	want := state{configuration{Provider: Kind, KubernetesVersion: "v1.37.0", Nodes: 3, NodeImage: "i", Recipe: formatVersion}, true}
	if err := d.write(want); err != nil {
		t.Fatal(err)
	}
	if err := d.unlock(); err != nil {
		t.Fatal(err)
	}
	if d, err = lockStateDir("mine"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.unlock() }()
	if found, err := d.read(); err != nil || *found != want {
		t.Errorf("got state %+v (error %v), want %+v", found, err, want)
	}
	if err := os.WriteFile(d.stateFile(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = d.read()
	expectRefusal(t, err, d.stateFile(), "by hand")
}

func TestOpenKeepsStateIfRemoveFails(t *testing.T) {
	own(t)
	d, err := lockStateDir("mine")
	if err != nil {
		t.Fatal(err)
	}
	killed := state{Configuration: configuration{Provider: Kind, KubernetesVersion: "v1.37.0", Recipe: formatVersion}}
	if err := errors.Join(d.write(killed), d.unlock()); err != nil {
		t.Fatal(err)
	}
	fakeDocker(t, noEngine)

	_, err = Open(t.Context(), Options{Provider: KWOK, Name: "mine"})
	expectRefusal(t, err, `kind cluster "mine" already exists and cannot be removed`, "Is the docker daemon running?", "choose another "+nameOption)

	if d, err = lockStateDir("mine"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.unlock() }()
	if found, err := d.read(); err != nil || found == nil || *found != killed {
		t.Errorf("got state %+v (error %v), want %+v", found, err, killed)
	}
}

func TestUnwritableCacheDirectory(t *testing.T) {
	own(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", file)
	t.Setenv("XDG_CACHE_HOME", file)
	_, err := lockStateDir("mine")
	expectRefusal(t, err, file, "set XDG_CACHE_HOME")
}
