package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operator-assay/assay/operator/controller"
)

// operator is one that runs in a test.
type operator struct {
	ctrl.Manager
	probes string        // where they are
	stop   func()        // waits until runManager has returned
	ended  chan struct{} // closed when the manager has ended, too
}

// Start is part of manager.Manager.
func (o *operator) Start(ctx context.Context) error {
	defer close(o.ended)
	return o.Manager.Start(ctx)
}

// start runs the operator until the test ends or stop is called.
func start(t *testing.T, server *apiServer, f flags) *operator {
	t.Helper()
	f.probeAddress, f.workers = freeAddress(t), 3
	options := options(f)
	options.Controller.SkipNameValidation = new(true) // a process has one operator, and this one has one for each test
	manager, err := newManager(server.config, f, options)
	if err != nil {
		t.Fatal(err)
	}
	o := &operator{Manager: manager, probes: "http://" + f.probeAddress, ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	returned := make(chan error, 1)
	go func() { returned <- runManager(ctx, o) }()
	o.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-returned:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(limit):
			t.Error("the operator does not end")
		}
	})
	t.Cleanup(func() {
		o.stop()
		server.refuse("") // what waits for its caches ends when they are filled
		within(t, o.ended, "the manager does not end")
	})
	return o
}

// startStandby starts an operator while another one leads.
func startStandby(t *testing.T, server *apiServer) *operator {
	const path = leases + "ops/leases/" + controller.Name
	server.leases[path] = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: controller.Name, ResourceVersion: "1"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: new("another"), LeaseDurationSeconds: new(int32(60)), RenewTime: new(metav1.NowMicro())}}
	return start(t, server, flags{metricsAddress: "0", leaderElect: true, leaderElectionNamespace: "ops"})
}

// within waits until a channel is closed.
func within(t *testing.T, closed <-chan struct{}, complaint string) {
	t.Helper()
	select {
	case <-closed:
	case <-time.After(limit):
		t.Fatal(complaint)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// status is the status code of a URL, and the body; 0 while nobody answers.
func status(t *testing.T, url, token string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	insecure := &http.Client{Timeout: limit, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	response, err := insecure.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(body)
}

// limit is how long a test waits on a busy machine.
const limit = 15 * time.Second

// poll asks again and again until something holds, and otherwise fails with what was seen last.
func poll(t *testing.T, holds func() (ok bool, seen string)) {
	t.Helper()
	var ok bool
	var seen string
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if ok, seen = holds(); ok {
			return
		}
	}
	t.Fatal(seen)
}

// eventually waits until a URL has a status code.
func eventually(t *testing.T, url string, want int) {
	t.Helper()
	poll(t, func() (bool, string) {
		code, body := status(t, url, "scraper")
		return code == want, fmt.Sprintf("%s answers %d, want %d: %s", url, code, want, body)
	})
}
