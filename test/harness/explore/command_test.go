package explore

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

func TestABinaryThatEndsTakesAlongWhatItHasStarted(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "operator")
	g.Expect(os.WriteFile(path, []byte("#!/bin/sh\nsleep 1000 &\necho $!\nexit 3\n"), 0o755)).To(Succeed())
	var out bytes.Buffer
	err := Command(path)(t.Context(), "default", identity, &out)
	g.Expect(err).To(MatchError(ContainSubstring("exit status 3")))
	child, err := strconv.Atoi(strings.TrimSpace(out.String()))
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() error { return syscall.Kill(child, 0) }).WithTimeout(long).Should(MatchError(syscall.ESRCH))
}

func TestABinaryThatCannotBeStartedSaysWhy(t *testing.T) {
	err := Command(filepath.Join(t.TempDir(), "nothing"))(t.Context(), "default", identity, &bytes.Buffer{})
	NewWithT(t).Expect(err).To(MatchError(os.ErrNotExist))
}
