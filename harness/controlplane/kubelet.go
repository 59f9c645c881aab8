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
	"k8s.io/client-go/kubernetes"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
	"sigs.k8s.io/yaml"
)

const (
	// LogsAnnotation is a Pod annotation that contains the log of the Pod's containers. Defaults to an empty log.
	LogsAnnotation = "assay.dev/logs"
	// ExecAnnotation is a Pod annotation with a YAML list that defines the results of commands in the Pod's containers.
	// The first entry whose command is a substring of the command line is used; arguments are separated by a space. An
	// entry without a command matches every command line. If no entry matches, the command succeeds without output.
	//
	//	assay.dev/exec: |
	//	  - {command: redis-cli info, stdout: "role:master"}
	//	  - {command: redis-cli, stderr: no such command, exitCode: 1}
	ExecAnnotation = "assay.dev/exec"
)

// kubelet is the kubelet server of all fake nodes. The API server connects to it to read logs and to run commands.
type kubelet struct {
	http.Server
	clientset kubernetes.Interface
}

// serveKubelet uses the API server's certificate, because the API server does not verify kubelet certificates.
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

// podOf returns the Pod of a request. Like a real kubelet, it returns an error if the container has not started.
func (k *kubelet) podOf(request *http.Request) (*corev1.Pod, error) {
	pod, err := k.clientset.CoreV1().Pods(request.PathValue("namespace")).Get(request.Context(), request.PathValue("pod"), metav1.GetOptions{})
	if err == nil && pod.Status.Phase == corev1.PodPending {
		err = fmt.Errorf("container %q in pod %q is waiting to start: ContainerCreating", request.PathValue("container"), pod.Name)
	}
	return pod, err
}

// serveLogs ignores the log options. In particular, it does not wait for more output if the client follows the log.
func (k *kubelet) serveLogs(w http.ResponseWriter, request *http.Request) {
	pod, err := k.podOf(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = io.WriteString(w, pod.Annotations[LogsAnnotation]) // the client may have disconnected
}

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
	const idle, creation = 4 * time.Hour, 30 * time.Second // the kubelet's defaults
	remotecommand.ServeExec(patientWriter{w}, request, answers, pod.Name, string(pod.UID), request.PathValue("container"),
		request.Form["command"], options, idle, creation, remotecommand.SupportedStreamingProtocols)
}

// patientWriter returns hijacked connections that stay open until the client has closed them. If the server closed a
// SPDY connection first, the client would lose any data that it has not read yet. That is likely here, because commands
// finish immediately.
type patientWriter struct{ http.ResponseWriter }

func (w patientWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	return patientConn{conn}, buffered, err
}

type patientConn struct{ net.Conn }

// Close returns immediately. The connection is closed when the client closes its end, or after stopTimeout.
func (c patientConn) Close() error {
	go func() {
		_, _ = io.Copy(io.Discard, c.Conn)
		_ = c.Conn.Close()
	}()
	return c.SetReadDeadline(time.Now().Add(stopTimeout))
}

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
			_, _ = io.WriteString(stdout, answer.Stdout) // the client may have disconnected
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
