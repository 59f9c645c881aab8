package images

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operator-assay/assay/harness/terminal"
)

func TestCheckUserNamesAlternatives(t *testing.T) {
	for _, test := range []struct {
		system string
		user   int
		want   []string
	}{
		{"linux", 0, nil},
		{"linux", 1000, []string{"root", "sudo env PATH", "E2E_NODE_IMAGE", "v1.37.0"}},
		{"darwin", 501, []string{"Linux", "darwin", "E2E_PROVIDER=kwok", "E2E_NODE_IMAGE", "v1.37.0"}},
		{"darwin", 0, []string{"Linux"}},
	} {
		err := checkUser(test.system, test.user, "v1.37.0")
		if (err == nil) != (test.want == nil) || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("user %d on %s: got error %v, want a single line with %q", test.user, test.system, err, test.want)
		}
		for _, want := range test.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("user %d on %s: got error %v, want it to contain %q", test.user, test.system, err, want)
			}
		}
	}
}

// TestInstallDebootstrapIgnoresFailedUpdate covers hosts with a broken repository, and offline hosts that have the
// packages in apt's cache.
func TestInstallDebootstrapIgnoresFailedUpdate(t *testing.T) {
	if testing.Short() {
		t.Skip("needs processes")
	}
	for install, want := range map[string]string{"exit 0": "", "echo 'E: no package' >&2; exit 1": "apt-get update: no repository; apt-get install: no package"} {
		dir := t.TempDir()
		script := "#!/bin/sh\necho 'Reading package lists...'\n[ $1 = install ] || { echo 'E: no repository' >&2; exit 1; }\n" + install
		noError(t, os.WriteFile(filepath.Join(dir, "apt-get"), []byte(script), 0o755))
		t.Setenv("PATH", dir)
		err := (&Engine{log: terminal.NewLog("images", io.Discard)}).installDebootstrap(t.Context())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", install, err, want)
		}
	}
}
