package controlplane

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
	"sigs.k8s.io/yaml"
)

const (
	// LogsAnnotation is an annotation of Pods: the log of each of their containers. By default it is empty.
	LogsAnnotation = "assay.dev/logs"
	// ExecAnnotation is an annotation of Pods: what commands do in their containers, as YAML. It is a list, of which the
	// first entry counts whose command is a part of the command line, words separated by a space; one without a command
	// matches all. A command that no entry matches prints nothing and succeeds.
	//
	//	assay.dev/exec: |
	//	  - {command: redis-cli info, stdout: "role:master"}
	//	  - {command: redis-cli, stderr: no such command, exitCode: 1}
	ExecAnnotation = "assay.dev/exec"
)

// kubelet plays the HTTP server of the Nodes' kubelets, which the API server asks for logs and to run commands. What else a
// kubelet does, fakeNodes does: that Pods run, and end.
type kubelet struct {
	http.Server
	clientset kubernetes.Interface
}

// serveKubelet serves on a port of this machine, with the certificate of the API server, which does not verify it.
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
		http.Error(w, "a fake node serves logs and exec alone", http.StatusNotImplemented)
	})
	go func() { // it returns when Close closes the listener
		_ = k.ServeTLS(listener, filepath.Join(certificates, "apiserver.crt"), filepath.Join(certificates, "apiserver.key"))
	}()
	return k, int32(listener.Addr().(*net.TCPAddr).Port), nil
}

// podOf returns the Pod that a request is about. As on a real Node, there is no log of a container that has not started.
func (k *kubelet) podOf(request *http.Request) (*corev1.Pod, error) {
	pod, err := k.clientset.CoreV1().Pods(request.PathValue("namespace")).Get(request.Context(), request.PathValue("pod"), metav1.GetOptions{})
	if err == nil && pod.Status.Phase == corev1.PodPending {
		err = fmt.Errorf("container %q in pod %q is waiting to start: ContainerCreating", request.PathValue("container"), pod.Name)
	}
	return pod, err
}

// serveLogs serves the whole log. If it is followed, the response ends with the Pod.
func (k *kubelet) serveLogs(w http.ResponseWriter, request *http.Request) {
	pod, err := k.podOf(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = io.WriteString(w, pod.Annotations[LogsAnnotation]) // the client may have gone
	if request.FormValue("follow") != "true" {
		return
	}
	_ = http.NewResponseController(w).Flush()
	itself := cache.NewListWatchFromClient(k.clientset.CoreV1().RESTClient(), "pods", pod.Namespace,
		fields.OneTermEqualSelector(metav1.ObjectNameField, pod.Name))
	gone := func(pods cache.Store) (bool, error) { return len(pods.List()) == 0, nil }
	_, _ = watchtools.UntilWithSync(request.Context(), itself, &corev1.Pod{}, gone, func(event watch.Event) (bool, error) {
		now := event.Object.(*corev1.Pod)
		return event.Type == watch.Deleted || now.UID != pod.UID || now.Status.Phase != corev1.PodRunning, nil
	})
}

// serveExec runs a command, over the protocol that the client asks for.
func (k *kubelet) serveExec(w http.ResponseWriter, request *http.Request) {
	pod, err := k.podOf(request)
	if err == nil && pod.Status.Phase != corev1.PodRunning {
		err = fmt.Errorf("container not found (%q): the Pod is %s", request.PathValue("container"), pod.Status.Phase)
	}
	var answers execAnswers
	if err == nil {
		if err = yaml.UnmarshalStrict([]byte(pod.Annotations[ExecAnnotation]), &answers); err != nil {
			err = fmt.Errorf("annotation %s of Pod %s: %w", ExecAnnotation, pod.Name, err)
		}
	}
	options, invalid := remotecommand.NewOptions(request)
	if err = cmp.Or(err, invalid); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	const idle, creation = 4 * time.Hour, 30 * time.Second // a kubelet's
	remotecommand.ServeExec(patientWriter{w}, request, answers, pod.Name, string(pod.UID), request.PathValue("container"),
		request.Form["command"], options, idle, creation, remotecommand.SupportedStreamingProtocols)
}

// patientWriter hijacks a connection whose Close waits until the client has closed it. A SPDY client loses what it has not
// read when the server closes first, and a command that is answered at once ends before it reads.
type patientWriter struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (w patientWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	return patientConn{conn}, buffered, err
}

type patientConn struct{ net.Conn }

// Close closes the connection when the client has, or after a time.
func (c patientConn) Close() error {
	go func() {
		_, _ = io.Copy(io.Discard, c.Conn)
		_ = c.Conn.Close()
	}()
	return c.SetReadDeadline(time.Now().Add(stopTimeout))
}

// execAnswers is the content of ExecAnnotation.
type execAnswers []struct {
	Command, Stdout, Stderr string
	ExitCode                int
}

// ExecInContainer implements remotecommand.Executor.
func (answers execAnswers) ExecInContainer(_ context.Context, _, _, _ string, command []string, _ io.Reader, stdout, stderr io.WriteCloser,
	_ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration,
) error {
	line := strings.Join(command, " ")
	for _, answer := range answers {
		if !strings.Contains(line, answer.Command) {
			continue
		}
		if stdout != nil {
			_, _ = io.WriteString(stdout, answer.Stdout) // the client may have gone
		}
		if stderr != nil {
			_, _ = io.WriteString(stderr, answer.Stderr)
		}
		if answer.ExitCode != 0 {
			return utilexec.CodeExitError{Err: errors.New(line), Code: answer.ExitCode}
		}
		return nil
	}
	return nil
}
