package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTempDirMustBeWritable(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	t.Setenv("TMPDIR", missing)
	_, err := MakeTempDir("test-")
	if err == nil || !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "set TMPDIR to a writable directory") {
		t.Errorf("got %v, want advice about %s", err, missing)
	}
}

func TestTempDirThatIsMountedNoexecIsReplaced(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a process")
	}
	if temp := os.Getenv("ASSAY_TEST_NOEXEC"); temp != "" {
		var text strings.Builder
		err := errors.Join(UseExecutableTempDir(&text), runIn(os.TempDir()))
		if message := text.String(); err != nil || !strings.HasPrefix(message, "no program can run in "+temp+": using ") ||
			!strings.Contains(message, "set TMPDIR") || strings.Count(message, "\n") != 1 {
			t.Errorf("got %q, %v", message, err)
		}
		return
	}
	temp, cache := t.TempDir(), t.TempDir()
	noexec := []string{"-Urm", "sh", "-c", `mount -t tmpfs -o noexec tmpfs "$TMPDIR" && exec "$@"`, "sh"}
	inside := func(command ...string) *exec.Cmd {
		c := exec.Command("unshare", append(noexec, command...)...)
		c.Env = append(os.Environ(), "TMPDIR="+temp, "HOME="+cache, "XDG_CACHE_HOME="+filepath.Join(cache, "x"), "ASSAY_TEST_NOEXEC="+temp)
		return c
	}
	if err := inside("true").Run(); err != nil {
		t.Skip("needs a mount namespace: ", err)
	}
	output, err := inside(os.Args[0], "-test.run=^"+t.Name()+"$").CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, output)
	}
}
