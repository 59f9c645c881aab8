package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operator-assay/assay/harness/binaries"
)

// own gives the test its own empty cache directory, and unsets the environment variables that FromEnvironment and
// client-go read.
func own(t *testing.T) (clusters string) {
	t.Helper()
	for _, name := range []string{"E2E_PROVIDER", "E2E_CLUSTER", "E2E_CONTEXT", "E2E_NODES", "E2E_NODE_IMAGE", "K8S_VERSION", "KUBECONFIG"} {
		t.Setenv(name, "") // restores the variable after the test
		os.Unsetenv(name)
	}
	cache := filepath.Join(t.TempDir(), "[home] with spaces")
	t.Setenv("HOME", cache)
	t.Setenv("XDG_CACHE_HOME", cache)
	found, err := os.UserCacheDir()
	noError(t, err)
	return filepath.Join(found, "assay", "clusters")
}

func ensureBinaries(t *testing.T) (plane, tools string) {
	t.Helper()
	plane, err := binaries.Ensure(t.Context(), "", t.Output())
	noError(t, err)
	tools, err = binaries.EnsureKWOK(t.Context(), t.Output())
	noError(t, err)
	return plane, tools
}

func ownWithBinaries(t *testing.T) (clusters string) {
	t.Helper()
	plane, tools := ensureBinaries(t)
	t.Setenv("KUBEBUILDER_ASSETS", plane)
	t.Setenv("KWOK_ASSETS", tools)
	return own(t)
}

func fakeDocker(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(dir, "docker"), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expectRefusal(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one with %q", parts)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("got an error of several lines: %v", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("got error %q, want %q", err, part)
		}
	}
}

func expectNothing(t *testing.T, clusters string) {
	t.Helper()
	left, err := os.ReadDir(clusters)
	left = slices.DeleteFunc(left, func(entry os.DirEntry) bool { return strings.HasSuffix(entry.Name(), ".lock") })
	if err != nil && !errors.Is(err, os.ErrNotExist) || len(left) > 0 {
		t.Errorf("got remaining files %v (error %v), want none", left, err)
	}
	running, err := processesOf(context.WithoutCancel(t.Context()), clusters)
	if err != nil || len(running) > 0 {
		t.Errorf("got remaining processes %v (error %v), want none", running, err)
	}
}
