package process_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
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
	needsProcess(t)
	return script.Run(t.Context(), &rest.Config{Host: "https://api.example.com"}, "run-1")
}

func TestScriptReachesLoopbackWithoutProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://proxy")
	t.Setenv("NO_PROXY", ".corp")
	t.Setenv("no_proxy", "")
	script := process.Script{Env: []string{"NO_PROXY=.svc"}, Content: `[ "$NO_PROXY $no_proxy" = ".svc,127.0.0.1,localhost,::1 .svc,127.0.0.1,localhost,::1" ] || { echo "got $NO_PROXY $no_proxy"; exit 1; }`, Timeout: time.Minute}
	NewWithT(t).Expect(script.Run(t.Context(), &rest.Config{Host: "https://127.0.0.1:1"}, "a")).To(Succeed())
}

func TestScriptFindsItsNamespaceAndFolder(t *testing.T) {
	g, folder := NewWithT(t), t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "file"), nil, 0o600)).To(Succeed())
	err := runScript(t, process.Script{
		Content: `set -e; grep "namespace: run-1" $KUBECONFIG; grep https://api.example.com $KUBECONFIG
			test $NAMESPACE = run-1; test "$GREETING" = "good morning"; test -e file`,
		Folder: folder, Timeout: time.Minute, Env: []string{"GREETING=good morning"},
	})
	g.Expect(err).NotTo(HaveOccurred())
}

func TestScriptErrorQuotesItsOutput(t *testing.T) {
	g := NewWithT(t)
	g.Expect(runScript(t, process.Script{Content: "echo expected 3 Pods, got 2; exit 7", Timeout: time.Minute})).To(MatchError("exit status 7\nexpected 3 Pods, got 2"))
	g.Expect(runScript(t, process.Script{Content: "exit 7", Timeout: time.Minute})).To(MatchError("exit status 7"))
	g.Expect(runScript(t, process.Script{Content: "echo password; exit 7", Timeout: time.Minute, SkipOutput: true})).To(MatchError("exit status 7"))
	g.Expect(runScript(t, process.Script{Content: "echo started; sleep 60", Timeout: 5 * time.Second})).To(MatchError("the script did not end within 5s\nstarted"))

	g.Expect(runScript(t, process.Script{Content: "true", Timeout: time.Nanosecond})).To(MatchError("the script did not end within 1ns"))

	err := runScript(t, process.Script{Content: "for i in $(seq 1000); do echo line $i; done; exit 1", Timeout: time.Minute})
	g.Expect(err).To(MatchError(HavePrefix("exit status 1\nline 981\n")))
	g.Expect(err).To(MatchError(HaveSuffix("\nline 1000")))

	err = runScript(t, process.Script{Content: "head -c 1000000 /dev/zero | tr '\\0' a; exit 1", Timeout: time.Minute})
	g.Expect(len(err.Error())).To(BeNumerically("~", 64<<10, 100), "of a line without an end")
}

func TestScriptLeavesNoChildren(t *testing.T) {
	needsProcess(t)
	for _, end := range []string{"exit 0", "exit 1", "sleep 600"} {
		t.Run(end, func(t *testing.T) {
			g := NewWithT(t)
			held := filepath.Join(t.TempDir(), "held") // open for writing until the last child has exited
			g.Expect(syscall.Mkfifo(held, 0o600)).To(Succeed())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				reader, err := os.Open(held)
				if err == nil {
					defer reader.Close()
					if strings.HasPrefix(end, "sleep") {
						cancel() // the script has started its child
					}
					_, err = io.Copy(io.Discard, reader)
				}
				ended <- err
			}()
			script := process.Script{Content: "exec 3>" + held + "; sleep 600 & " + end, Timeout: time.Minute}
			_ = script.Run(ctx, &rest.Config{Host: "https://api.example.com"}, "run-1")
			g.Eventually(ended).WithTimeout(timeout).Should(Receive(BeNil()))
		})
	}
}
