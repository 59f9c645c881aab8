package binaries

import (
	"os"
	"path/filepath"
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
	noError(t, os.WriteFile(kubeadm, []byte("#!/bin/sh\necho no such version >&2\nexit 1\n"), 0o755))
	if _, err := expectedImages(t.Context(), kubeadm, "v1.37.0"); err == nil || !strings.Contains(err.Error(), "no such version") {
		t.Errorf("got %v", err)
	}
}
