package pod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

type output struct {
	mu   sync.Mutex
	text strings.Builder
	line chan struct{} // receives a value for each write
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.line <- struct{}{}:
	default:
	}
	return o.text.Write(text)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func serveHello(listener net.Listener) (func(), error) {
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello from the API") })}
	go func() { _ = server.Serve(listener) }()
	return func() { _ = server.Close() }, nil
}

func needsProcess(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a process")
	}
}

func shell(t *testing.T, c Container, script string) string {
	t.Helper()
	needsProcess(t)
	c.Path, c.Arguments = "/bin/sh", []string{"-c", script}
	var printed output
	if err := Run(t.Context(), c, serveHello, &printed); err == nil || !strings.Contains(err.Error(), "sh exited with code 0") {
		t.Fatalf("%v\n%s", err, printed.String())
	}
	return printed.String()
}

// isolated skips the test if processes cannot be isolated. It fails the test if Unavailable returns an error although
// the unshare command can create the namespaces.
func isolated(t *testing.T) {
	t.Helper()
	needsProcess(t)
	err := Unavailable()
	if err == nil {
		return
	}
	if exec.Command("unshare", "--user", "--map-root-user", "--net", "--uts", "--mount", "mount", "-t", "tmpfs", "none", "/mnt").Run() == nil {
		t.Fatal(err)
	}
	t.Skip(err)
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestProcessSeesMountsAndVariables(t *testing.T) {
	isolated(t)
	c := Container{
		Namespace: "shop",
		Env:       []string{"POD_NAME=manager-0"},
		Mounts: map[string]Files{
			"/no/such/folder/config": {"settings.yaml": []byte("replicas: 2"), "nested/more": []byte("more")},
			"/etc/assay-operator":    {},
		},
		Files: Files{"/settings.yaml": []byte("replicas: 3"), "/etc/hostname": []byte("manager-0"), "/etc/assay-operator/more": []byte("more")},
	}
	const script = `cd /var/run/secrets/kubernetes.io/serviceaccount && echo "$(cat namespace) $(cat token) $(head -1 ca.crt)"
		cat /no/such/folder/config/settings.yaml /no/such/folder/config/nested/more; echo
		touch /etc/assay-operator/writable && ls /etc/assay-operator
		test -e /etc/passwd && echo "the rest of /etc is there"
		cat /settings.yaml /etc/hostname; echo
		echo "$POD_NAME $KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT KUBECONFIG=$KUBECONFIG $KUBERNETES_PORT"`
	const want = "shop assay -----BEGIN CERTIFICATE-----\nreplicas: 2more\nmore\nwritable\nthe rest of /etc is there\nreplicas: 3manager-0\nmanager-0 127.0.0.1:6443 KUBECONFIG= \n"
	t.Setenv("KUBECONFIG", "/the/users/own")
	t.Setenv("KUBERNETES_PORT", "of-a-cluster-around-this-process")
	t.Setenv("POD_NAME", "of-this-process")
	if got := shell(t, c, script); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, path := range []string{"/no", "/etc/assay-operator", "/settings.yaml"} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left on this machine", path)
		}
	}
}

func TestProcessHasPodHostname(t *testing.T) {
	isolated(t)
	machine, err := os.Hostname()
	noError(t, err)
	t.Setenv("HOSTNAME", machine)
	const script = `uname -n; echo "$HOSTNAME"`
	long := "master" + strings.Repeat("-manager", 9) // a hostname cannot end with the dash in position 63
	for hostname, want := range map[string]string{"manager-0": "manager-0\nmanager-0\n", long: long[:62] + "\n" + long[:62] + "\n", "": machine + "\n" + machine + "\n"} {
		if got := shell(t, Container{Hostname: hostname}, script); got != want {
			t.Errorf("hostname %q: got %q, want %q", hostname, got, want)
		}
	}
	if got := shell(t, Container{Hostname: "manager-0", Env: []string{"HOSTNAME=mine"}}, script); got != "manager-0\nmine\n" {
		t.Errorf("with HOSTNAME in Env: got %q", got)
	}
	if now, err := os.Hostname(); err != nil || now != machine {
		t.Errorf("this machine is now called %s, %v", now, err)
	}
}

// TestMountKeepsRunFiles mounts files at the parent of the folder that contains the run's own files.
func TestMountKeepsRunFiles(t *testing.T) {
	isolated(t)
	folder := t.TempDir()
	c := Container{Namespace: "shop", Mounts: map[string]Files{
		filepath.Dir(folder):                     {"settings.yaml": []byte("replicas: 2\n")},
		filepath.Join(filepath.Dir(folder), "x"): {"more": []byte("more\n")},
	}}
	t.Chdir(folder)
	t.Setenv("TMPDIR", folder)
	const script = `pwd; cat ../settings.yaml ../x/more /var/run/secrets/kubernetes.io/serviceaccount/namespace; touch ../private`
	want := folder + "\nreplicas: 2\nmore\nshop"
	if got := shell(t, c, script); got != want {
		t.Errorf("got output\n%s\nwant\n%s", got, want)
	}
	if _, err := os.Stat("../private"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the process has written outside of its mounts: %v", err)
	}
}

func TestProjectedTokenKeepsCA(t *testing.T) {
	isolated(t)
	c := Container{Namespace: "shop", Mounts: map[string]Files{serviceAccountFolder + "/": {"token": []byte("projected")}}}
	const script = `cd /var/run/secrets/kubernetes.io/serviceaccount && cat namespace token ca.crt | head -1`
	if got, want := shell(t, c, script), "shopprojected-----BEGIN CERTIFICATE-----\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVariablesPointToAPIServer(t *testing.T) {
	isolated(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	const script = `python3 -c '
import os, ssl, urllib.request
tls = ssl.create_default_context(cafile="/var/run/secrets/kubernetes.io/serviceaccount/ca.crt")
tls.verify_flags |= ssl.VERIFY_X509_STRICT # the default since Python 3.13
url = "https://{KUBERNETES_SERVICE_HOST}:{KUBERNETES_SERVICE_PORT}/".format(**os.environ)
print(urllib.request.urlopen(url, context=tls).read().decode(), end="")'`
	if got := shell(t, Container{}, script); got != "hello from the API" {
		t.Errorf("got response %q", got)
	}
}

// start runs a container until stop is called or the test ends. start returns once the container has printed something.
func start(t *testing.T, c Container) (printed *output, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	printed = &output{line: make(chan struct{}, 1)}
	running.Go(func() {
		if err := Run(ctx, c, serveHello, printed); err != nil {
			t.Error(err, printed.String())
		}
	})
	<-printed.line
	return printed, stop
}

// TestProcessStartsAfterAPIServer uses a serve function that fails, so the process must not start.
func TestProcessStartsAfterAPIServer(t *testing.T) {
	isolated(t)
	printed := &output{line: make(chan struct{}, 1)}
	serve := func(net.Listener) (func(), error) {
		select {
		case <-printed.line:
			t.Error("the process started before the API server was served")
		case <-time.After(200 * time.Millisecond): // enough time for the process to start by mistake
		}
		return nil, errors.New("no API server")
	}
	err := Run(t.Context(), Container{Path: "/bin/sh", Arguments: []string{"-c", "echo started; sleep 1000"}}, serve, printed)
	if err == nil || !strings.Contains(err.Error(), "no API server") || strings.Contains(printed.String(), "started") {
		t.Errorf("got output %q and error %v", printed, err)
	}
}

func TestRemountReplacesFiles(t *testing.T) {
	isolated(t)
	var remount Remount
	c := Container{Remount: func(r Remount) { remount = r }, Path: "/bin/sh",
		Mounts:    map[string]Files{"/no/such/certs": {"ca.crt": []byte("old")}},
		Arguments: []string{"-c", "cat /no/such/certs/ca.crt; echo; while test -e /no/such/certs/ca.crt; do sleep 0.02; done; ls /no/such/certs; sleep 1000"}}
	printed, stop := start(t, c)
	noError(t, remount("/no/such/certs", Files{"tls.key": []byte("key"), "tls.crt": []byte("new")}))
	for strings.Count(printed.String(), "\n") < 3 {
		<-printed.line
	}
	if err := remount("/elsewhere", nil); err == nil {
		t.Error("a folder that is not mounted has changed")
	}
	stop()
	if got := printed.String(); got != "old\ntls.crt\ntls.key\n" {
		t.Errorf("got output %q", got)
	}
	if err := remount("/no/such/certs", Files{"tls.crt": nil}); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

// TestInstancesListenOnTheSamePort runs two processes at once. Each process has a helper that listens on the API
// server's port and fails if that port is in use.
func TestInstancesListenOnTheSamePort(t *testing.T) {
	isolated(t)
	for range 2 {
		start(t, Container{Path: "/bin/sh", Arguments: []string{"-c", "echo listening; sleep 1000"}}) // starts while the other process is still running
	}
}

// TestDialReachesPort passes even if the port is in use on this machine, because the process has its own network
// namespace.
func TestDialReachesPort(t *testing.T) {
	isolated(t)
	var dial Dial
	c := Container{Reach: func(d Dial) { dial = d }, Env: []string{"ASSAY_POD_TEST=listen"}, Path: os.Args[0]}
	start(t, c)
	if _, err := dial(4711); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v from a port without a listener, want ECONNREFUSED", err)
	}
	for range maxConnections {
		connection, err := dial(9443)
		noError(t, err)
		text, err := io.ReadAll(connection)
		if err != nil || string(text) != "hello from the process" {
			t.Errorf("read %q, %v", text, err)
		}
		_ = connection.Close()
	}
	if _, err := dial(9443); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v when all connections are used", err)
	}
}

// listen runs in a container whose command is this test binary.
func listen() {
	listener, err := net.Listen("tcp", ":9443")
	if err != nil {
		panic(err)
	}
	fmt.Println("listening")
	for {
		connection, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(connection, "hello from the process")
		_ = connection.Close()
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("ASSAY_POD_TEST") == "listen" {
		listen()
	}
	os.Exit(m.Run())
}

func TestRunReturnsStartError(t *testing.T) {
	isolated(t)
	if err := Run(t.Context(), Container{Path: filepath.Join(t.TempDir(), "none")}, serveHello, io.Discard); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	text := filepath.Join(t.TempDir(), "text")
	noError(t, os.WriteFile(text, []byte("no program"), 0o755))
	var printed output
	if err := Run(t.Context(), Container{Path: text}, serveHello, &printed); err == nil || !strings.HasPrefix(err.Error(), "text: exit status 1") || !strings.Contains(printed.String(), "exec format error") {
		t.Errorf("%v: %s", err, printed.String())
	}
}

func TestKubeconfigWithoutNamespaces(t *testing.T) {
	needsProcess(t)
	c := Container{Path: "/bin/sh", Env: []string{"LEVEL=high"}, Hostname: "manager-0", Arguments: []string{"-c", `grep -o "server: http://127.0.0.1" $KUBECONFIG; test $KUBECONFIG = {kubeconfig} && echo $LEVEL $HOSTNAME`}}
	var printed output
	err := runOnHost(t.Context(), c, t.TempDir(), serveHello, &printed)
	if err == nil || printed.String() != "server: http://127.0.0.1\nhigh manager-0\n" {
		t.Errorf("%v: %s", err, printed.String())
	}
}

// A program that prefers the user's kubeconfig would connect to the user's cluster.
func TestKubeconfigOfUserIsHidden(t *testing.T) {
	isolated(t)
	home, err := os.MkdirTemp("/var/tmp", "home-") // not in /tmp, which is private
	noError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	noError(t, os.Mkdir(filepath.Join(home, ".kube"), 0o700))
	noError(t, os.WriteFile(filepath.Join(home, ".kube/config"), nil, 0o600))
	t.Setenv("HOME", home)
	if got := shell(t, Container{}, "touch ~/.kube/cache; ls ~/.kube"); got != "cache\n" {
		t.Errorf("got files %q, want only the new file", got)
	}
	if _, err := os.Stat(filepath.Join(home, ".kube/cache")); err == nil {
		t.Error("the process wrote to the user's directory")
	}
}

// For example, a volume may be mounted below /root even if the tests run as another user.
func TestVolumeInUnreadableFolder(t *testing.T) {
	isolated(t)
	folder := "/root"
	if os.Getuid() == 0 {
		var err error
		folder, err = os.MkdirTemp("/var/tmp", "unreadable-")
		noError(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(folder) })
		noError(t, os.Chown(folder, 12345, 12345)) // is not mapped in the user namespace
	}
	c := Container{Mounts: map[string]Files{folder + "/.aws": {"config": []byte("region")}}}
	if got := shell(t, c, "cat "+folder+"/.aws/config"); got != "region" {
		t.Errorf("got %q, want the mounted file", got)
	}
}
