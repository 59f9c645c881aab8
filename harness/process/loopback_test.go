package process_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/process"
)

func TestLoopbackIsChecked(t *testing.T) {
	needsProcess(t)
	g := NewWithT(t)
	if os.Getenv("ASSAY_TEST_NAMESPACE") != "" {
		for host, advice := range map[string]string{
			"127.0.0.1":    "run `ip link set lo up`",
			"localhost":    "run `ip link set lo up`",
			"name.invalid": `add "127.0.0.1 name.invalid" to /etc/hosts`,
		} {
			g.Expect(process.CheckLoopback(t.Context(), host)).To(MatchError(And(HavePrefix("cannot connect to "+host+": "), HaveSuffix(": "+advice))))
		}
		return
	}
	g.Expect(process.CheckLoopback(t.Context(), "localhost")).To(Succeed())
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(process.CheckLoopback(canceled, "127.0.0.1")).To(MatchError(HaveSuffix("operation was canceled")), "no advice")
	if err := exec.CommandContext(t.Context(), "unshare", "-Urn", "true").Run(); err != nil {
		t.Skip("needs a network namespace: ", err)
	}
	inside := exec.CommandContext(t.Context(), "unshare", "-Urn", os.Args[0], "-test.run=^"+t.Name()+"$")
	inside.Env = append(os.Environ(), "ASSAY_TEST_NAMESPACE=1")
	output, err := inside.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(output))
}
