package controlplane_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/controlplane"
)

func useEmptyReserve() { useCache(filepath.Join(GinkgoT().TempDir(), "[cache]")) }

func useCache(cache string) {
	GinkgoT().Setenv("XDG_CACHE_HOME", cache)
	GinkgoT().Setenv("HOME", cache) // for macOS
}

func socketsIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	var sockets []string
	for _, entry := range entries {
		sockets = append(sockets, filepath.Join(folder, entry.Name()))
	}
	return sockets, err
}

// keepReserve runs Reserve in the background and waits for its first socket. temp is the temporary directory of the
// control planes. ready receives a value when a control plane is available. end stops Reserve.
func keepReserve(ctx SpecContext) (temp string, sockets func() ([]string, error), ready chan struct{}, end func()) {
	GinkgoHelper()
	assets, err := binaries.Ensure(ctx, "", GinkgoWriter, controlplane.Binaries...)
	Expect(err).NotTo(HaveOccurred())
	GinkgoT().Setenv("KUBEBUILDER_ASSETS", assets)
	useEmptyReserve()
	temp = GinkgoT().TempDir()
	GinkgoT().Setenv("TMPDIR", temp)
	keeping, cancel := context.WithCancel(ctx)
	DeferCleanup(cancel)
	ready, ended := make(chan struct{}, 2), make(chan error, 1)
	go func() { ended <- controlplane.Reserve(keeping, func() { ready <- struct{}{} }) }()
	sockets = func() ([]string, error) { return socketsIn(controlplane.Sockets(assets)) }
	Eventually(sockets).ShouldNot(BeEmpty())
	return temp, sockets, ready, func() {
		GinkgoHelper()
		cancel()
		Eventually(ended).Should(Receive(BeNil()))
	}
}

var _ = Describe("A control plane in the reserve", func() {
	It("is used by one run, which starts faster", func(ctx SpecContext) {
		temp, sockets, ready, end := keepReserve(ctx)
		Expect(ready).NotTo(Receive(), "the run waits for a control plane that is starting")

		began := time.Now()
		taken, err := controlplane.Start(ctx, controlplane.Options{CRDs: []string{"testdata"}, UseReserve: true})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(taken.Stop)
		AddReportEntry("taken over in", time.Since(began).String())
		Expect(sockets()).To(BeEmpty(), "no other run can take it")
		Expect(filepath.Glob(filepath.Join(temp, "assay-control-plane-*"))).To(HaveLen(1), "no other control plane was started")

		config, err := taken.User(ctx, "somebody", []byte(roles))
		Expect(err).NotTo(HaveOccurred())
		Expect(clientOf(config).List(ctx, &corev1.ConfigMapList{})).To(Succeed())
		Expect(taken.Audit("somebody")).NotTo(BeEmpty())
		Expect(taken.Audit("system:serviceaccount:kube-system:somebody")).NotTo(BeEmpty())
		Expect(taken.Crash(ctx)).To(MatchError(ContainSubstring("reserve")))
		Expect(taken.Compact(ctx)).To(MatchError(ContainSubstring("reserve")))

		end() // does not wait until the run has stopped the control plane
		Expect(taken.Stop()).To(Succeed())
		expectNothingIn(temp)
	})

	It("is ignored if the process that started it was killed", func(ctx SpecContext) {
		useBinary(ctx, "etcd", "#!/bin/sh\nexit 1") // a control plane cannot be started
		useEmptyReserve()
		folder := controlplane.Sockets(os.Getenv("KUBEBUILDER_ASSETS"))
		Expect(os.MkdirAll(folder, 0o700)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(folder, "stale"), nil, 0o600)).To(Succeed())
		_, err := controlplane.Start(ctx, controlplane.Options{UseReserve: true})
		Expect(err).To(MatchError(HavePrefix("etcd did not start")))
		Expect(socketsIn(folder)).To(BeEmpty())
	})

	It("needs a short path", func(ctx SpecContext) {
		useBinary(ctx, "etcd", "#!/bin/sh\n")
		useCache(filepath.Join(GinkgoT().TempDir(), strings.Repeat("long", 20)))
		Expect(controlplane.Reserve(ctx, nil)).To(MatchError(ContainSubstring("set HOME or XDG_CACHE_HOME to a directory with a shorter path")))
	})

	It("is replaced if the run that waits for it is canceled", func(ctx SpecContext) {
		_, sockets, ready, end := keepReserve(ctx)
		offered, err := sockets()
		Expect(err).NotTo(HaveOccurred())
		run, err := net.Dial("unix", offered[0])
		Expect(err).NotTo(HaveOccurred())
		Expect(run.Close()).To(Succeed())

		Eventually(ready).WithTimeout(4 * timeout).Should(Receive())
		Eventually(ready).WithTimeout(4*timeout).Should(Receive(), "a new one replaces it")
		end()
	})

	It("is ignored if one of its processes has exited", func(ctx SpecContext) {
		temp, _, ready, end := keepReserve(ctx)
		Eventually(ready).WithTimeout(4 * timeout).Should(Receive())
		pids, err := filepath.Glob(filepath.Join(temp, "assay-control-plane-*", "etcd.pid"))
		Expect(err).NotTo(HaveOccurred())
		pid, err := os.ReadFile(pids[0])
		Expect(err).NotTo(HaveOccurred())
		Expect(exec.Command("kill", "-9", strings.TrimSpace(string(pid))).Run()).To(Succeed())
		Eventually(func() error { return exec.Command("kill", "-0", strings.TrimSpace(string(pid))).Run() }).ShouldNot(Succeed())

		plane, err := controlplane.Start(ctx, controlplane.Options{UseReserve: true})
		Expect(err).NotTo(HaveOccurred())
		Expect(plane.Stop()).To(Succeed())
		Eventually(ready).WithTimeout(4*timeout).Should(Receive(), "a new one replaces it")
		end()
	})
})
