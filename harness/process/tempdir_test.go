package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnusableTempDirIsRejected(t *testing.T) {
	for temp, want := range map[string]string{
		filepath.Join(t.TempDir(), "missing"): "set TMPDIR to a writable directory",
		filepath.Join(t.TempDir(), "co:lon"):  "set TMPDIR to another directory",
	} {
		t.Setenv("TMPDIR", temp)
		_, err := MakeTempDir("test-")
		if err == nil || !strings.Contains(err.Error(), temp) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s and %q", err, temp, want)
		}
	}
}

func TestRelativeTempDirBecomesAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", ".")
	if got, err := MakeTempDir("test-"); err != nil || !filepath.IsAbs(got) {
		t.Errorf("got %q, %v, want an absolute path", got, err)
	}
	if err := os.Mkdir("co:lon", 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir("co:lon")
	if got, err := MakeTempDir("test-"); err == nil {
		t.Errorf("got %q, want an error about the colon", got)
	}
}
