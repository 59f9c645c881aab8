package explore

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestABinaryThatCannotBeStartedSaysWhy(t *testing.T) {
	err := Command(filepath.Join(t.TempDir(), "nothing"))(t.Context(), "default", identity, &bytes.Buffer{})
	NewWithT(t).Expect(err).To(MatchError(os.ErrNotExist))
}
