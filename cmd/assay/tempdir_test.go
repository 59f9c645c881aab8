package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTempDirThatIsMountedNoexecIsReplaced(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a process")
	}
	if temp := os.Getenv("ASSAY_TEST_NOEXEC"); temp != "" {
		if code, _, stderr := assay(t, "version"); code != exitOK || !strings.HasPrefix(stderr, "no program can run in "+temp+": using ") ||
			!strings.Contains(stderr, "set TMPDIR") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("exit code %d: %s", code, stderr)
		}
		noError(t, runIn(os.TempDir()))
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
