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
	if testing.Short() {
		t.Skip("needs a process")
	}
	g := NewWithT(t)
	if os.Getenv("ASSAY_TEST_NAMESPACE") != "" {
		g.Expect(process.CheckLoopback(t.Context())).To(MatchError(HaveSuffix(": run `ip link set lo up`")))
		return
	}
	g.Expect(process.CheckLoopback(t.Context())).To(Succeed())
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(process.CheckLoopback(canceled)).To(MatchError(HaveSuffix("operation was canceled")), "no advice")
	if err := exec.CommandContext(t.Context(), "unshare", "-Urn", "true").Run(); err != nil {
		t.Skip("needs a network namespace: ", err)
	}
	inside := exec.CommandContext(t.Context(), "unshare", "-Urn", os.Args[0], "-test.run=^"+t.Name()+"$")
	inside.Env = append(os.Environ(), "ASSAY_TEST_NAMESPACE=1")
	output, err := inside.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(output))
}
