package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAnOperatorRunsUntilItIsToldToEnd begins as a process does, with the cluster of a kubeconfig.
func TestAnOperatorRunsUntilItIsToldToEnd(t *testing.T) {
	server := newAPIServer(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	use := func(host string) {
		text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n", host)
		if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	use(server.config.Host)
	t.Setenv("KUBECONFIG", kubeconfig)
	f := flags{metricsAddress: "0", probeAddress: freeAddress(t), workers: 1}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, f, nil) }()
	eventually(t, "http://"+f.probeAddress+"/readyz", http.StatusOK)
	again := make(chan error, 1) // which finds the address taken
	go func() { again <- run(t.Context(), f, nil) }()
	expectEnd(t, again, "address already in use")
	cancel()
	expectEnd(t, ended, "")
	use("http://127.0.0.1:1")
	go func() { again <- run(t.Context(), f, nil) }()
	expectEnd(t, again, "connection refused")
}

// expectEnd expects an error with these words, or none.
func expectEnd(t *testing.T, ended <-chan error, words string) {
	t.Helper()
	select {
	case err := <-ended:
		if (err == nil) != (words == "") || err != nil && !strings.Contains(err.Error(), words) {
			t.Errorf("it ends with %v, want %q", err, words)
		}
	case <-time.After(limit):
		t.Error("it does not end")
	}
}
