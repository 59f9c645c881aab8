package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnOperatorThatCannotWorkSaysWhy begins as a process does, with the cluster of a kubeconfig.
func TestAnOperatorThatCannotWorkSaysWhy(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	t.Setenv("KUBECONFIG", kubeconfig)
	server := newAPIServer(t)
	for want, host := range map[string]string{"connection refused": "http://127.0.0.1:1", address + ": bind: address already in use": server.config.Host} {
		text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n", host)
		if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), flags{metricsAddress: "0", probeAddress: address, workers: 1}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it ends with %v, want %q", err, want)
		}
	}

	f := flags{metricsAddress: address, probeAddress: "0", workers: 1}
	o := options(f)
	o.Controller.SkipNameValidation = new(true) // a process has one operator, and this one has one for each test
	manager, err := newManager(server.config, f, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := runManager(t.Context(), manager); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("where its metrics cannot be served it ends with %v", err)
	}
}
