package images

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"
)

func TestUnpackMergesAndExcludesFiles(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil || testing.Short() {
		t.Skip("needs dpkg-deb and a process")
	}
	tree, folder := filepath.Join(t.TempDir(), "tree"), t.TempDir()
	dir := filepath.Join(folder, "packages")
	for name, text := range map[string]string{
		"DEBIAN/control":          "Package: web\nVersion: 1\nArchitecture: all\nMaintainer: none\nDescription: none\n",
		"lib/libc.so":             "library",
		"usr/lib/x/gconv/BIG5.so": "excluded",
		"usr/share/doc/web/text":  "excluded",
		"usr/share/docs":          "not excluded",
	} {
		noError(t, os.MkdirAll(filepath.Dir(filepath.Join(tree, name)), 0o755))
		noError(t, os.WriteFile(filepath.Join(tree, name), []byte(text), 0o644))
	}
	file := tree + ".deb"
	if out, err := exec.CommandContext(t.Context(), "dpkg-deb", "--build", "--root-owner-group", tree, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer syscall.Umask(syscall.Umask(0o077))
	noError(t, os.CopyFS(folder, fstest.MapFS{"root/etc/passwd": {Mode: 0o444}}))
	noError(t, unpack(t.Context(), folder, []string{file}))
	for name, want := range map[string]fs.FileMode{"packages/usr/lib/libc.so": 0o644, "packages/run": fs.ModeDir | 0o755, "root/etc/passwd": 0o644, "root/etc": fs.ModeDir | 0o755} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		} else if info.Mode() != want {
			t.Errorf("%s: got mode %v, want %v", name, info.Mode(), want)
		}
	}
	for name, want := range map[string]bool{"usr/lib/libc.so": true, "lib/libc.so": true, "usr/share/docs": true, "run": true, "usr/lib/x/gconv": false, "usr/share/doc": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: got error %v, want it to exist: %t", name, err, want)
		}
	}
	if err := unpack(t.Context(), t.TempDir(), []string{"missing.deb"}); err == nil {
		t.Error("got no error for a missing package")
	}
}
