package explore

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/pod"
)

func TestUnstartableBinaryReturnsReason(t *testing.T) {
	nothing := func(string) pod.Container { return pod.Container{Path: filepath.Join(t.TempDir(), "nothing")} }
	err := Pod(nothing)(t.Context(), "default", identity, &bytes.Buffer{})
	NewWithT(t).Expect(err).To(MatchError(os.ErrNotExist))
}
