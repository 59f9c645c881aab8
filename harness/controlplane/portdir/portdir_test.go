package portdir

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnwritableDirectoriesAreAnError(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a process")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	command.Env = []string{"HOME=" + file, "XDG_CACHE_HOME=" + file, "TMPDIR=" + file}
	output, err := command.CombinedOutput()
	if text := string(output); err == nil || !strings.HasSuffix(text, "set TMPDIR to a writable directory\n") || strings.Count(text, "\n") != 1 {
		t.Errorf("got %q (error %v), want one line of advice", text, err)
	}
}
