package controlplane_test

import (
	"bufio"
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

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/controlplane"
)

// starveVariable makes this test binary start a control plane, print that it runs and wait to be killed.
const starveVariable = "ASSAY_TEST_STARVE"

func startAndStarve() {
	var err error
	if cp, err = controlplane.Start(context.Background(), controlplane.Options{}); err != nil { // cp keeps it from being collected
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("started")
	select {}
}

var _ = Describe("Starting and stopping", func() {
	var temp string

	BeforeEach(func() {
		temp = GinkgoT().TempDir()
		GinkgoT().Setenv("TMPDIR", temp)
	})

	It("leaves nothing when it is cancelled on the way", func(ctx SpecContext) {
		cancelled, cancel := context.WithCancel(ctx)
		go func() {
			defer cancel()
			Eventually(logsIn(temp)).WithContext(ctx).Should(ContainElement(HaveSuffix("kube-apiserver.log")))
		}()
		_, err := controlplane.Start(cancelled, controlplane.Options{})
		Expect(err).To(MatchError(context.Canceled))
		expectNothingIn(temp)
	})

	It("leaves nothing when the test process is killed", func(ctx SpecContext) {
		victim := exec.CommandContext(ctx, os.Args[0])
		victim.Env = append(os.Environ(), starveVariable+"=1")
		said, err := victim.StdoutPipe()
		Expect(err).NotTo(HaveOccurred())
		Expect(victim.Start()).To(Succeed())
		line, err := bufio.NewReader(said).ReadString('\n')
		Expect(err).NotTo(HaveOccurred())
		Expect(line).To(Equal("started\n"))
		Expect(processesOf(temp)).To(HaveLen(4), "etcd, kube-apiserver, kube-controller-manager, watchdog")

		Expect(victim.Process.Kill()).To(Succeed())
		_ = victim.Wait()
		Eventually(processesOf).WithArguments(temp).Should(BeEmpty())
		expectNothingIn(temp)
	})

	It("keeps its logs where they are wanted, and says who died", func(ctx SpecContext) {
		logs := filepath.Join(GinkgoT().TempDir(), "logs")
		doomed, err := controlplane.Start(ctx, controlplane.Options{LogsDir: logs})
		Expect(err).NotTo(HaveOccurred())
		kill(processesOf(temp), "kube-apiserver")

		Expect(doomed.Stop()).To(MatchError(ContainSubstring("kube-apiserver died: ")))
		Expect(doomed.Stop()).To(MatchError(ContainSubstring("kube-apiserver died: ")), "the same again")
		Expect(filepath.Join(logs, "kube-apiserver.log")).To(BeARegularFile())
		expectNothingIn(temp)
	})

	It("does not wait for what has died", func(ctx SpecContext) {
		dying, err := controlplane.Start(ctx, controlplane.Options{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { _ = dying.Stop() })
		for _, process := range processesOf(temp) {
			var pid int
			if strings.Contains(process, "kube-controller-manager.real ") {
				Expect(fmt.Sscan(process, &pid)).Error().NotTo(HaveOccurred())
				Expect(syscall.Kill(pid, syscall.SIGKILL)).To(Succeed())
			}
		}
		_, err = dying.CreateNamespace(ctx, "nobody")
		Expect(err).To(MatchError(ContainSubstring("kube-controller-manager died")))
		Expect(dying.Stop()).To(MatchError(ContainSubstring("kube-controller-manager died")))
	}, SpecTimeout(time.Minute))

	It("says which binary is missing", func(ctx SpecContext) {
		GinkgoT().Setenv("KUBEBUILDER_ASSETS", temp)
		_, err := controlplane.Start(ctx, controlplane.Options{})
		Expect(err).To(MatchError("KUBEBUILDER_ASSETS=" + temp + " has no etcd: unset it, or run `make control-plane`"))
	})

	It("quotes a process that does not start", func(ctx SpecContext) {
		intact, err := binaries.Ensure(ctx, "", GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		assets := GinkgoT().TempDir()
		for _, name := range []string{"kube-apiserver", "kube-controller-manager"} {
			Expect(os.Symlink(filepath.Join(intact, name), filepath.Join(assets, name))).To(Succeed())
		}
		busy := "#!/bin/sh\n" + `echo '{"level":"fatal","error":"listen tcp 127.0.0.1:2379: bind: address already in use"}'; exit 1`
		Expect(os.WriteFile(filepath.Join(assets, "etcd"), []byte(busy), 0o755)).To(Succeed())
		GinkgoT().Setenv("KUBEBUILDER_ASSETS", assets)

		_, err = controlplane.Start(ctx, controlplane.Options{})
		Expect(err).To(MatchError(And(HavePrefix("etcd did not start: "), ContainSubstring("address already in use"))))
		Expect(err.Error()).NotTo(ContainSubstring("\n"))
		expectNothingIn(temp)
	})

	It("refuses CRDs that are not there", func(ctx SpecContext) {
		_, err := controlplane.Start(ctx, controlplane.Options{CRDs: []string{"nowhere"}})
		Expect(err).To(MatchError(ContainSubstring("nowhere")))
		expectNothingIn(temp)
	})
})

func logsIn(temp string) func() ([]string, error) {
	return func() ([]string, error) { return filepath.Glob(filepath.Join(temp, "*", "logs", "*")) }
}

// processesOf returns "pid command" of the processes whose arguments name a folder.
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

// expectNothingIn expects no process and no file of a control plane in a temporary folder.
func expectNothingIn(temp string) {
	GinkgoHelper()
	Expect(processesOf(temp)).To(BeEmpty())
	Expect(filepath.Glob(filepath.Join(temp, "assay-*"))).To(BeEmpty())
}

// kill kills the process of an executable, and returns when its parent has reaped it.
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
	Fail("no process of "+name, 1)
}
