package controlplane_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/controlplane"
)

// waitForeverVariable is an environment variable. If it is set, this binary starts a control plane. The spec replaces
// kube-apiserver with neverReady, so the start does not finish.
const waitForeverVariable = "ASSAY_TEST_WAIT_FOREVER"

const neverReady = "#!/bin/sh\nwhile :; do sleep 0.1; done"

func startAndWaitForever() {
	_, err := controlplane.Start(context.Background(), controlplane.Options{})
	fmt.Println(err)
	os.Exit(1)
}

var _ = Describe("Starting a control plane", func() {
	var temp string

	BeforeEach(func() {
		temp = GinkgoT().TempDir()
		GinkgoT().Setenv("TMPDIR", temp)
	})

	It("cleans up after a canceled start", func(ctx SpecContext) {
		useBinary(ctx, "kube-apiserver", neverReady)
		cancelled, cancel := context.WithCancel(ctx)
		go func() {
			defer GinkgoRecover()
			defer cancel()
			Eventually(filepath.Glob).WithContext(ctx).WithArguments(filepath.Join(temp, "*", "kube-apiserver.pid")).Should(HaveLen(1))
		}()
		_, err := controlplane.Start(cancelled, controlplane.Options{})
		Expect(err).To(MatchError(context.Canceled))
		expectNothingIn(temp)
	}, SpecTimeout(4*timeout))

	It("cleans up after its process group is killed", func(ctx SpecContext) {
		useBinary(ctx, "kube-apiserver", neverReady)
		victim := exec.CommandContext(ctx, os.Args[0])
		victim.Env = append(os.Environ(), waitForeverVariable+"=1")
		victim.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		Expect(victim.Start()).To(Succeed())
		Eventually(processesOf).WithArguments(temp).Should(And(
			HaveLen(3), ContainElement(ContainSubstring("/etcd ")), ContainElement(ContainSubstring("/kube-apiserver.real ")),
			ContainElement(ContainSubstring("assay-watchdog"))))

		Expect(syscall.Kill(-victim.Process.Pid, syscall.SIGKILL)).To(Succeed())
		_ = victim.Wait()
		Eventually(processesOf).WithArguments(temp).Should(BeEmpty())
		expectNothingIn(temp)
	})

	It("returns the last error of a process that does not start", func(ctx SpecContext) {
		useBinary(ctx, "etcd", "#!/bin/sh\n"+`echo '{"level":"fatal","error":"listen tcp 127.0.0.1:2379: bind: address already in use"}'; exit 1`)
		_, err := controlplane.Start(ctx, controlplane.Options{})
		Expect(err).To(MatchError(And(HavePrefix("etcd did not start: "), ContainSubstring("address already in use"))))
		Expect(err.Error()).NotTo(ContainSubstring("\n"))
		expectNothingIn(temp)
	})

	DescribeTable("returns advice", func(ctx SpecContext, binary, advice, script string) {
		useBinary(ctx, binary, script)
		_, err := controlplane.Start(ctx, controlplane.Options{})
		Expect(err).To(MatchError(And(HavePrefix(binary+" did not start: "), ContainSubstring(advice))))
		expectNothingIn(temp)
	},
		Entry("for an etcd of another platform", "etcd", "remove it, so that it is fetched again, or set KUBEBUILDER_ASSETS to another directory", "\x7fELF of another platform"),
		Entry("for a kube-apiserver of another platform", "kube-apiserver", "remove it, so that it is fetched again, or set KUBEBUILDER_ASSETS to another directory", "\x7fELF of another platform"),
		Entry("for a full disk", "etcd", "set TMPDIR to a directory on another disk", "#!/bin/sh\necho write: no space left on device; exit 1"),
	)

	It("rejects missing CRD files", func(ctx SpecContext) {
		_, err := controlplane.Start(ctx, controlplane.Options{CRDs: []string{"nowhere"}})
		Expect(err).To(MatchError(ContainSubstring("nowhere")))
		expectNothingIn(temp)
	})
})

// useBinary sets KUBEBUILDER_ASSETS to a directory in which one of the binaries has the given content.
func useBinary(ctx SpecContext, replaced, content string) {
	GinkgoHelper()
	intact, err := binaries.Ensure(ctx, "", GinkgoWriter, controlplane.Binaries...)
	Expect(err).NotTo(HaveOccurred())
	assets := GinkgoT().TempDir()
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager"} {
		if name != replaced {
			Expect(os.Symlink(filepath.Join(intact, name), filepath.Join(assets, name))).To(Succeed())
		}
	}
	Expect(os.WriteFile(filepath.Join(assets, replaced), []byte(content), 0o755)).To(Succeed())
	GinkgoT().Setenv("KUBEBUILDER_ASSETS", assets)
}

// expectCompleteStop verifies that Stop leaves no processes or files behind, even if a client has an open watch and the
// controller-manager has been killed.
func expectCompleteStop(ctx SpecContext) {
	watcher, err := cp.Client.Watch(ctx, &corev1.PodList{})
	Expect(err).NotTo(HaveOccurred())
	defer watcher.Stop()
	kill(processesOf(temp), "kube-controller-manager")
	_, err = cp.CreateNamespace(ctx, "nobody")
	Expect(err).To(MatchError(ContainSubstring("kube-controller-manager died")))

	began := time.Now()
	err = cp.Stop()
	Expect(time.Since(began)).To(BeNumerically("<", timeout/2))
	Expect(err).To(MatchError(And(HavePrefix("kube-controller-manager died: "), Not(ContainSubstring("\n")))))
	Expect(cp.Stop()).To(MatchError(err), "later calls return the same error")
	expectNothingIn(temp)
}

func processesOf(folder string) []string {
	GinkgoHelper()
	all, err := exec.Command("ps", "-eo", "pid=,args=").Output()
	Expect(err).NotTo(HaveOccurred())
	var found []string
	for line := range strings.Lines(string(all)) {
		if strings.Contains(line, folder) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

func expectNothingIn(temp string) {
	GinkgoHelper()
	Expect(processesOf(temp)).To(BeEmpty())
	Expect(filepath.Glob(filepath.Join(temp, "assay-*"))).To(BeEmpty())
}

func kill(processes []string, name string) {
	GinkgoHelper()
	for _, process := range processes {
		id, command, _ := strings.Cut(process, " ")
		if !strings.Contains(strings.Fields(command)[0], name) {
			continue
		}
		pid, err := strconv.Atoi(id)
		Expect(err).NotTo(HaveOccurred())
		Expect(syscall.Kill(pid, syscall.SIGKILL)).To(Succeed())
		Eventually(syscall.Kill).WithArguments(pid, syscall.Signal(0)).Should(MatchError(syscall.ESRCH))
		return
	}
	Fail("process "+name+" not found", 1)
}
