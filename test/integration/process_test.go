package integration

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	. "github.com/onsi/gomega/gexec"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/operator/config"
)

// leaseNamespace is the namespace of the generated Role, before kustomize renames it.
const leaseNamespace = "system"

// processUser is the operator's identity when it runs as a separate process.
const processUser = "assay-operator-process"

var _ = Describe("The operator's binary", Ordered, ContinueOnFailure, SpecPriority(1), func() {
	var binary, kubeconfig string

	BeforeAll(func(ctx SpecContext) {
		stop()
		var err error
		binary, err = Build("github.com/operator-assay/assay/operator", "-ldflags=-s -w")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(CleanupBuildArtifacts)
		identity, err := plane.User(ctx, processUser, config.Role)
		Expect(err).NotTo(HaveOccurred())
		kubeconfig = filepath.Join(GinkgoT().TempDir(), "kubeconfig")
		Expect(process.WriteKubeconfig(kubeconfig, identity, "")).To(Succeed())
	})

	start := func(more ...string) *Session {
		GinkgoHelper()
		arguments := append([]string{"--kubeconfig", kubeconfig, "--health-probe-bind-address=0"}, more...)
		session, err := Start(exec.Command(binary, arguments...), GinkgoWriter, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { session.Kill().Wait() })
		return session
	}
	startCandidate := func() *Session {
		return start("--leader-elect", "--leader-election-namespace="+leaseNamespace)
	}

	It("works only as the leader, and hands over its Lease when it stops", func(ctx SpecContext) {
		first := startCandidate()
		web := serving(ctx, newWebServer(newNamespace(ctx), "web", 1), 1)

		second := startCandidate()
		Eventually(second.Err).Should(Or(gbytes.Say("attempting to acquire"), gbytes.Say("Attempting to acquire")))
		Consistently(second).WithTimeout(stableFor / 2).ShouldNot(Exit())
		Expect(second.Err.Contents()).NotTo(ContainSubstring("Starting workers"))

		first.Interrupt().Wait(timeout)
		Expect(first).To(Exit(0))
		serving(ctx, newMemcached(web.Namespace, "cache", 1), 1)
		second.Signal(syscall.SIGTERM).Wait(timeout)
		Expect(second).To(Exit(0))
	})

	It("logs the old and the new value of each change", func(ctx SpecContext) {
		session := startCandidate()
		cache := serving(ctx, newMemcached(newNamespace(ctx), "cache", 1), 1)
		edit(ctx, cache, func() { cache.Spec.Size = 2 })
		waitFor(ctx, current(cache), beReady(2))
		session.Terminate().Wait(timeout)

		var updates []map[string]any
		for _, entry := range logged(session) {
			if entry["msg"] == "Updated" {
				updates = append(updates, entry)
			}
		}
		Expect(updates).To(ConsistOf(And(
			HaveKeyWithValue("child", "Deployment"),
			HaveKeyWithValue("changes", ContainElement("spec.replicas: 1 → 2")),
			HaveKeyWithValue("controllerKind", "Memcached"),
			HaveKeyWithValue("name", "cache"))))
	})

	It("combines repeated Events of a child into a series", func(ctx SpecContext) {
		start()
		web := serving(ctx, newWebServer(newNamespace(ctx), "web", 0), 0)
		for _, child := range []client.Object{deploymentOf(ctx, web), serviceOf(ctx, web), serviceOf(ctx, web), serviceOf(ctx, web)} {
			Expect(plane.Client.Get(ctx, client.ObjectKeyFromObject(child), child)).To(Succeed())
			before := child.GetUID()
			Expect(plane.Client.Delete(ctx, child)).To(Succeed())
			waitFor(ctx, func(ctx context.Context) (types.UID, error) {
				err := plane.Client.Get(ctx, client.ObjectKeyFromObject(child), child)
				return child.GetUID(), err
			}, Not(Equal(before)))
			waitFor(ctx, current(web), beReady(0))
		}
		waitFor(ctx, func(ctx context.Context) (repeated []string, err error) {
			events := &eventsv1.EventList{}
			err = plane.Client.List(ctx, events, client.InNamespace(web.Namespace))
			for _, event := range events.Items {
				if event.Series != nil {
					repeated = append(repeated, event.Note)
				}
			}
			return repeated, err
		}, ContainElement("Created Service web-service"))
	})

	It("reads children that are missing from its cache because they lost their labels", func(ctx SpecContext) {
		start()
		web := serving(ctx, newWebServer(newNamespace(ctx), "web", 0), 0)
		for _, child := range []client.Object{newDeployment(web), newService(web)} {
			edit(ctx, child, func() { child.SetLabels(nil) })
			waitFor(ctx, func(ctx context.Context) (map[string]string, error) {
				err := plane.Client.Get(ctx, client.ObjectKeyFromObject(child), child)
				return child.GetLabels(), err
			}, HaveLen(3))
		}
		waitFor(ctx, eventsIn(web.Namespace), haveEvent("Normal", "Repaired", "Service web-service", "metadata.labels.app.kubernetes.io/name: none → webserver"))
	})

	It("is not ready without the permissions to fill its caches, and logs only JSON lines", func(ctx SpecContext) {
		powerless, err := plane.User(ctx, "assay-operator-powerless", []byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"powerless"},"rules":[]}`))
		Expect(err).NotTo(HaveOccurred())
		path := filepath.Join(GinkgoT().TempDir(), "powerless")
		Expect(process.WriteKubeconfig(path, powerless, "")).To(Succeed())
		for _, more := range [][]string{nil, {"--leader-elect", "--leader-election-namespace=" + leaseNamespace}} {
			metrics, probes := freeAddress(), freeAddress()
			arguments := []string{"--kubeconfig", path, "--health-probe-bind-address=" + probes, "--metrics-bind-address=" + metrics}
			session, err := Start(exec.Command(binary, append(arguments, more...)...), GinkgoWriter, GinkgoWriter)
			Expect(err).NotTo(HaveOccurred())
			Eventually(status(ctx, "http://"+probes+"/healthz", "")).Should(HavePrefix("200"))
			Eventually(session.Err).Should(gbytes.Say("cannot list resource"))
			Consistently(status(ctx, "http://"+probes+"/readyz", "")).Should(And(HavePrefix("500"), ContainSubstring("[-]readyz failed")))
			Eventually(status(ctx, "http://"+probes+"/readyz/readyz", "")).Should(ContainSubstring("the caches have not synced"))
			Eventually(status(ctx, "https://"+metrics+"/metrics", "token")).Should(HavePrefix("500"))
			session.Kill().Wait()
			Expect(logged(session)).To(And(
				ContainElement(HaveKeyWithValue("msg", ContainSubstring("Failed to make webhook authenticator request"))), // through klog
				Not(ContainElement(HaveKey("stacktrace")))))
		}
	})

	It("serves probes, and serves metrics only to users that RBAC allows", func(ctx SpecContext) {
		metrics, probes := freeAddress(), freeAddress()
		start("--metrics-bind-address="+metrics, "--health-probe-bind-address="+probes)
		Eventually(status(ctx, "http://"+probes+"/healthz/healthz", "")).Should(HavePrefix("200"))
		Eventually(status(ctx, "http://"+probes+"/readyz", "")).Should(HavePrefix("200"))

		namespace := newNamespace(ctx)
		stranger, scraper := token(ctx, namespace, "stranger"), token(ctx, namespace, "scraper")
		create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: namespace},
			Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}},
			&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: namespace},
				RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: namespace},
				Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "scraper"}}})
		endpoint := "https://" + metrics + "/metrics"
		Eventually(status(ctx, endpoint, "")).Should(HavePrefix("401"))
		Eventually(status(ctx, endpoint, stranger)).Should(HavePrefix("403"))
		Eventually(status(ctx, endpoint, scraper)).Should(And(HavePrefix("200"), ContainSubstring("controller_runtime_reconcile_total")))
		plain, _ := status(ctx, "http://"+metrics+"/metrics", scraper)() // rejected or disconnected
		Expect(plain).NotTo(HavePrefix("200"), "response without TLS")
		Consistently(status(ctx, "http://"+probes+"/readyz", "")).Should(HavePrefix("200"))
	})

	It("uses exactly the permissions of its role", func() {
		expectRoleIsExact(processUser)
	})

	It("has watched only the objects that it manages", func() {
		events, err := plane.Audit(processUser)
		Expect(err).NotTo(HaveOccurred())
		watched := map[string]bool{}
		for _, event := range events {
			if event.Verb != "watch" {
				continue
			}
			watched[event.ObjectRef.Resource] = true
			switch event.ObjectRef.Resource {
			case "webservers", "memcacheds": // the operator's own kinds have no selector
			default:
				Expect(event.RequestURI).To(ContainSubstring(url.QueryEscape("app.kubernetes.io/managed-by=assay-operator")))
			}
		}
		Expect(watched).To(HaveLen(6)) // both kinds, Deployments, ReplicaSets, Pods and Services
	})

	DescribeTable("prints one line and exits if it cannot start with",
		func(arguments []string, complaint string) {
			session := start(arguments...)
			Eventually(session).WithTimeout(2 * timeout).Should(Exit(1))
			lines := nonEmptyLines(session.Err.Contents())
			Expect(string(lines[len(lines)-1])).To(And(HavePrefix("error: "), ContainSubstring(complaint)))
			Expect(string(session.Err.Contents())).NotTo(ContainSubstring("goroutine"))
		},
		Entry("a missing kubeconfig", []string{"--kubeconfig=/no/such/file"}, "/no/such/file: no such file"),
		Entry("an invalid address", []string{"--health-probe-bind-address=nonsense"}, "nonsense"),
	)
})

// status returns a function that requests a URL and returns the response's status line and body.
func status(ctx context.Context, endpoint, bearer string) func() (string, error) {
	// The operator's certificate is self-signed, and this test does not verify it.
	scraper := &http.Client{Timeout: timeout, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	return func() (string, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, nil)
		if err != nil {
			return "", err
		}
		if bearer != "" {
			request.Header.Set("Authorization", "Bearer "+bearer)
		}
		response, err := scraper.Do(request)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return response.Status + "\n" + string(body), err
	}
}

func token(ctx context.Context, namespace, name string) string {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	request := &authenticationv1.TokenRequest{}
	create(ctx, account)
	Expect(plane.Client.SubResource("token").Create(ctx, account, request)).To(Succeed())
	return request.Status.Token
}

func freeAddress() string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer listener.Close()
	return listener.Addr().String()
}

// logged returns the log of a session. It fails the spec if a line is not a JSON object with a timestamp.
func logged(session *Session) []map[string]any {
	GinkgoHelper()
	var entries []map[string]any
	for _, line := range nonEmptyLines(session.Err.Contents()) {
		entry := map[string]any{}
		Expect(json.Unmarshal(line, &entry)).To(Succeed(), "%s", line)
		Expect(entry).To(HaveKeyWithValue("time", MatchRegexp(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+`)), "a timestamp with fractions of a second")
		entries = append(entries, entry)
	}
	return entries
}

func nonEmptyLines(text []byte) [][]byte {
	return bytes.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}
