package process_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/process"
)

func runScript(t *testing.T, script process.Script) error {
	t.Helper()
	return script.Run(t.Context(), &rest.Config{Host: "https://api.example.com"}, "run-1")
}

func TestAScriptFindsTheAPIServerItsNamespaceAndItsFolder(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := runScript(t, process.Script{
		Content: `set -e; grep "namespace: run-1" $KUBECONFIG; grep https://api.example.com $KUBECONFIG
			test $NAMESPACE = run-1; test "$GREETING" = "good morning"; test -e file`,
		Folder: folder, Timeout: time.Minute, Env: []string{"GREETING=good morning"},
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAScriptSaysWhyItFails(t *testing.T) {
	g := NewWithT(t)
	g.Expect(runScript(t, process.Script{Content: "echo expected 3 Pods, got 2; exit 7", Timeout: time.Minute})).To(MatchError("exit status 7\nexpected 3 Pods, got 2"))
	g.Expect(runScript(t, process.Script{Content: "exit 7", Timeout: time.Minute})).To(MatchError("exit status 7"))
	g.Expect(runScript(t, process.Script{Content: "echo password; exit 7", Timeout: time.Minute, SkipOutput: true})).To(MatchError("exit status 7"))
	g.Expect(runScript(t, process.Script{Content: "echo started; sleep 60", Timeout: 3 * time.Second})).To(MatchError("it has not ended within 3s\nstarted"))

	g.Expect(runScript(t, process.Script{Content: "true", Timeout: time.Nanosecond})).To(MatchError("it has not ended within 1ns"))

	err := runScript(t, process.Script{Content: "for i in $(seq 1000); do echo line $i; done; exit 1", Timeout: time.Minute})
	g.Expect(err).To(MatchError(HavePrefix("exit status 1\nline 981\n")))
	g.Expect(err).To(MatchError(HaveSuffix("\nline 1000")))

	err = runScript(t, process.Script{Content: "head -c 1000000 /dev/zero | tr '\\0' a; exit 1", Timeout: time.Minute})
	g.Expect(len(err.Error())).To(BeNumerically("~", 64<<10, 100), "of a line without an end")
}

func TestAScriptLeavesNoChildren(t *testing.T) {
	for _, end := range []string{"exit 0", "exit 1", "sleep 60"} {
		t.Run(end, func(t *testing.T) {
			pid := filepath.Join(t.TempDir(), "pid")
			start := time.Now()
			_ = runScript(t, process.Script{Content: "sleep 60 & echo $! > " + pid + "; " + end, Timeout: 2 * time.Second})
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			text, err := os.ReadFile(pid)
			if err != nil {
				t.Fatal(err)
			}
			child, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			NewWithT(t).Eventually(func() error { return syscall.Kill(child, 0) }, 10*time.Second).Should(MatchError(syscall.ESRCH))
		})
	}
}
