package binaries

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestVersionAmongImages(t *testing.T) {
	images := []string{
		"registry.k8s.io/kube-apiserver:v1.37.0",
		"registry.k8s.io/coredns/coredns:v1.14.6",
		"registry.k8s.io/etcd:3.7.0-0",
	}
	for project, want := range map[string]string{"etcd": "v3.7.0", "coredns": "v1.14.6", "pause": ""} {
		got, err := versionAmong(images, project)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v; want %q", project, got, err, want)
		}
	}
}

func TestKubeadmErrorIsReturned(t *testing.T) {
	kubeadm := filepath.Join(t.TempDir(), "kubeadm")
	if err := os.WriteFile(kubeadm, []byte("#!/bin/sh\necho no such version >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := expectedImages(t.Context(), kubeadm, "v1.37.0"); err == nil || !strings.Contains(err.Error(), "no such version") {
		t.Errorf("got %v", err)
	}
}

func TestBundlesHaveDistinctFolders(t *testing.T) {
	sets := []bundle{
		controlPlane("v1.37.0"), nodeTools("v1.37.0"), kwok(), containerd(), cniPlugins(), crictl(), etcd("v3.7.0"), coreDNS("v1.14.6"),
	}
	var folders []string
	for _, s := range sets {
		if slices.Contains(folders, s.folder()) {
			t.Errorf("got directory %s for two bundles", s.folder())
		}
		folders = append(folders, s.folder())
	}
	if folders[0] != "control-plane" {
		t.Errorf("got directory %s, want control-plane so that existing stores remain valid", folders[0])
	}
}
