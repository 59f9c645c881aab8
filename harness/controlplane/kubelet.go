package controlplane

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// kubelet is the kubelet server of all fake nodes. The API server connects to it to read logs and to run commands.
type kubelet struct {
	http.Server
	clientset kubernetes.Interface
}

// serveKubelet serves on a local port with the API server's certificate. The API server does not verify kubelet
// certificates.
func serveKubelet(clientset kubernetes.Interface, certificates string) (k *kubelet, port int32, err error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(kubeletAddress, "0"))
	if err != nil {
		return nil, 0, err
	}
	mux := http.NewServeMux()
	k = &kubelet{Server: http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0)}, clientset: clientset}
	mux.HandleFunc("/containerLogs/{namespace}/{pod}/{container}", k.serveLogs)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", k.serveExec)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "a fake node only supports logs and exec", http.StatusNotImplemented)
	})
	go func() { // returns when Close closes the listener
		_ = k.ServeTLS(listener, filepath.Join(certificates, "apiserver.crt"), filepath.Join(certificates, "apiserver.key"))
	}()
	return k, int32(listener.Addr().(*net.TCPAddr).Port), nil
}

// podOf returns the Pod that a request refers to. Like a real kubelet, it returns an error if the container has not
// started.
func (k *kubelet) podOf(request *http.Request) (*corev1.Pod, error) {
	pod, err := k.clientset.CoreV1().Pods(request.PathValue("namespace")).Get(request.Context(), request.PathValue("pod"), metav1.GetOptions{})
	if err == nil && pod.Status.Phase == corev1.PodPending {
		err = fmt.Errorf("container %q in pod %q is waiting to start: ContainerCreating", request.PathValue("container"), pod.Name)
	}
	return pod, err
}

// serveLogs serves an empty log.
func (k *kubelet) serveLogs(w http.ResponseWriter, request *http.Request) {
	if _, err := k.podOf(request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (k *kubelet) serveExec(w http.ResponseWriter, request *http.Request) {
	pod, err := k.podOf(request)
	if err == nil && pod.Status.Phase != corev1.PodRunning {
		err = fmt.Errorf("container not found (%q): the Pod is %s", request.PathValue("container"), pod.Status.Phase)
	}
	options, invalid := remotecommand.NewOptions(request)
	if err = cmp.Or(err, invalid); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	const idle, creation = 4 * time.Hour, 30 * time.Second // the kubelet's defaults
	remotecommand.ServeExec(patientWriter{w}, request, executor{}, pod.Name, string(pod.UID), request.PathValue("container"),
		request.Form["command"], options, idle, creation, remotecommand.SupportedStreamingProtocols)
}

// patientWriter hijacks a connection and delays its Close until the client has closed it. If the server closes a SPDY
// connection first, the client loses the data that it has not read yet. That is likely here, because commands finish
// immediately.
type patientWriter struct{ http.ResponseWriter }

func (w patientWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	return patientConn{conn}, buffered, err
}

type patientConn struct{ net.Conn }

// Close returns immediately. It keeps the connection open until the client closes its end, or until stopTimeout.
func (c patientConn) Close() error {
	go func() {
		_, _ = io.Copy(io.Discard, c.Conn)
		_ = c.Conn.Close()
	}()
	return c.SetReadDeadline(time.Now().Add(stopTimeout))
}

// executor runs every command successfully, without output.
type executor struct{}

// ExecInContainer implements remotecommand.Executor.
func (executor) ExecInContainer(context.Context, string, string, string, []string, io.Reader, io.WriteCloser, io.WriteCloser,
	bool, <-chan remotecommand.TerminalSize, time.Duration,
) error {
	return nil
}
