package images

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestUnpackMergesAndExcludesFiles(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil || testing.Short() {
		t.Skip("needs dpkg-deb and a process")
	}
	tree, dir := filepath.Join(t.TempDir(), "tree"), filepath.Join(t.TempDir(), "packages")
	for name, text := range map[string]string{
		"DEBIAN/control":          "Package: web\nVersion: 1\nArchitecture: all\nMaintainer: none\nDescription: none\n",
		"lib/libc.so":             "library",
		"usr/lib/x/gconv/BIG5.so": "excluded",
		"usr/share/doc/web/text":  "excluded",
		"usr/share/docs":          "not excluded",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(tree, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := tree + ".deb"
	if out, err := exec.CommandContext(t.Context(), "dpkg-deb", "--build", "--root-owner-group", tree, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := unpack(t.Context(), dir, []string{file}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"usr/lib/libc.so": true, "lib/libc.so": true, "usr/share/docs": true, "run": true, "usr/lib/x/gconv": false, "usr/share/doc": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: got error %v, want it to exist: %t", name, err, want)
		}
	}
	if err := unpack(t.Context(), dir+"2", []string{"missing.deb"}); err == nil {
		t.Error("got no error for a missing package")
	}
}
