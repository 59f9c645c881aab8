package fault

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/operator-assay/assay/harness/controlplane"
)

func runPod(t *testing.T, namespace string) {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	pod, err := admin.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "db", Annotations: map[string]string{controlplane.ExecAnnotation: "- {stdout: done}"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main:v1"}}},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (corev1.PodPhase, error) {
		pod, err = admin.CoreV1().Pods(namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		return pod.Status.Phase, err
	}).Should(Equal(corev1.PodRunning))
}

func TestExecThroughInjector(t *testing.T) {
	g := NewWithT(t)
	namespace, injector := newRun(t, "")
	runPod(t, namespace)
	proxy, _, _ := behindProxy(t, injector)
	inProcess, instance := New(Scope{}).NewInstance(identity)
	t.Cleanup(instance.End)
	direct, err := kubernetes.NewForConfig(inProcess)
	g.Expect(err).NotTo(HaveOccurred())
	for how, client := range map[string]*kubernetes.Clientset{"behind a proxy": proxy, "in the process": direct} {
		config := inProcess
		if client == proxy {
			config = &rest.Config{}
		}
		url := client.CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").Name("db").SubResource("exec").
			VersionedParams(&corev1.PodExecOptions{Command: []string{"date"}, Stdout: true}, scheme.ParameterCodec).URL()
		spdy, err := remotecommand.NewSPDYExecutor(config, "POST", url)
		g.Expect(err).NotTo(HaveOccurred())
		webSocket, err := remotecommand.NewWebSocketExecutor(config, "GET", url.String())
		g.Expect(err).NotTo(HaveOccurred())
		for protocol, executor := range map[string]remotecommand.Executor{"SPDY": spdy, "WebSocket": webSocket} {
			t.Run(protocol+" "+how, func(t *testing.T) {
				g := NewWithT(t)
				var stdout bytes.Buffer
				g.Expect(executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: &stdout})).To(Succeed())
				g.Expect(stdout.String()).To(Equal("done"))
			})
		}
	}
}

// TestWebSocketWatchIsRefused sends a watch like fabric8's client, which then falls back to an HTTP watch.
func TestWebSocketWatchIsRefused(t *testing.T) {
	g, api := NewWithT(t), &server{code: http.StatusSwitchingProtocols}
	client, _ := operatorOf(t, New(Scope{}), api)
	request, err := http.NewRequest(http.MethodGet, "http://server/api/v1/configmaps?watch=true", nil)
	g.Expect(err).NotTo(HaveOccurred())
	request.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}
	response, err := client.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	g.Expect(response.StatusCode).To(Equal(http.StatusOK))
	g.Expect(io.ReadAll(response.Body)).To(ContainSubstring("WebSocket watches are not supported"))
	g.Expect(api.received).To(BeEmpty())
}

// TestUpgradedConnectionEnds uses an API server that prefers HTTP/2, like a real one.
func TestUpgradedConnectionEnds(t *testing.T) {
	g := NewWithT(t)
	upstreamEnded := make(chan struct{})
	upstream := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(upstreamEnded)
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
		_, _ = io.Copy(conn, buffered)
	}))
	upstream.EnableHTTP2 = true
	upstream.StartTLS()
	t.Cleanup(upstream.Close)

	config, _ := New(Scope{}).NewInstance(&rest.Config{Host: upstream.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	shut, err := Serve(listener, config)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(shut)
	conn, err := net.Dial("tcp", listener.Addr().String())
	g.Expect(err).NotTo(HaveOccurred())
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /api/v1/namespaces/default/pods/db/exec HTTP/1.1\r\nHost: proxy\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
	g.Expect(err).NotTo(HaveOccurred())
	answer := bufio.NewReader(conn)
	response, err := http.ReadResponse(answer, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(response.StatusCode).To(Equal(http.StatusSwitchingProtocols))
	_, err = io.WriteString(conn, "hello\n")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(answer.ReadString('\n')).To(Equal("hello\n"))

	shut()
	_, err = answer.ReadString('\n')
	g.Expect(err).To(MatchError(io.EOF))
	g.Eventually(upstreamEnded).Should(BeClosed())
}
