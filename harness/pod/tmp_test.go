package pod

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shellInTmp runs a script that writes to /tmp/pod-test-*. It returns the output and the files left in the host's /tmp.
func shellInTmp(t *testing.T, c Container, script string) (printed string, left []string) {
	t.Helper()
	before, err := filepath.Glob("/tmp/pod-test-*")
	if err != nil || len(before) > 0 {
		t.Fatalf("there are %v: %v", before, err)
	}
	printed = shell(t, c, script)
	left, err = filepath.Glob("/tmp/pod-test-*")
	noError(t, err)
	for _, path := range left {
		_ = os.RemoveAll(path)
	}
	return printed, left
}

// TestProcessHasPrivateTmp runs two processes that write the same file in /tmp.
func TestProcessHasPrivateTmp(t *testing.T) {
	isolated(t)
	mine := filepath.Join("/tmp", "mine-"+filepath.Base(t.TempDir()))
	noError(t, os.WriteFile(mine, nil, 0o600))
	t.Cleanup(func() { _ = os.Remove(mine) })
	t.Setenv("TMPDIR", t.TempDir())
	for range 2 {
		printed, left := shellInTmp(t, Container{}, `test -e `+mine+` && echo a file of this machine
			echo "$TMPDIR"; ls /tmp | grep pod-test; mkdir -p /tmp/pod-test-certs && touch /tmp/pod-test-certs/tls.crt && ls /tmp/pod-test-certs; stat -c %a /tmp`)
		if printed != "/tmp\ntls.crt\n1777\n" || len(left) > 0 {
			t.Errorf("got output %q and remaining files %v", printed, left)
		}
	}
	c := Container{
		Env:    []string{"TMPDIR=/elsewhere"},
		Mounts: map[string]Files{"/tmp/pod-test-a/certs": {"tls.crt": []byte("mounted\n")}, "/tmp": {"pod-test-b": []byte("beside\n")}},
	}
	printed, left := shellInTmp(t, c, `cat /tmp/pod-test-a/certs/tls.crt /tmp/pod-test-b; echo "$TMPDIR"; touch /tmp/pod-test-c`)
	if printed != "mounted\nbeside\n/elsewhere\n" || len(left) > 0 {
		t.Errorf("with mounts: got output %q and remaining files %v", printed, left)
	}
}

func TestRootMountKeepsMnt(t *testing.T) {
	isolated(t)
	const identify = "stat -c %d:%i /mnt"
	host, err := exec.Command("sh", "-c", identify).Output()
	if err != nil {
		t.Skip("needs /mnt: ", err)
	}
	c := Container{Mounts: map[string]Files{"/pod-test-a": {"b": []byte("at the root\n")}}}
	if got, want := shell(t, c, identify+"; cat /pod-test-a/b"), string(host)+"at the root\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVolumeAtTmpAndFileAtRoot(t *testing.T) {
	isolated(t)
	folder, err := os.MkdirTemp("/var/tmp", "pod-test-") // outside /tmp
	if err != nil {
		t.Skip("needs /var/tmp: ", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	t.Setenv("TMPDIR", folder)
	c := Container{Mounts: map[string]Files{"/tmp": {}}, Files: Files{"/pod-test.yaml": []byte("at the root\n")}}
	if got := shell(t, c, "cat /pod-test.yaml"); got != "at the root\n" {
		t.Errorf("got %q", got)
	}
}

func TestPIDFileWithoutNamespaces(t *testing.T) {
	needsProcess(t)
	folder := filepath.Join(t.TempDir(), "pod")
	c := Container{Path: "/bin/sh", Arguments: []string{"-c", "for i in $(seq 500); do [ -s " + folder + ".pid ] && break; sleep 0.01; done; expr $(cat " + folder + ".pid) + $$"}}
	var printed output
	_ = runOnHost(t.Context(), c, folder, serveHello, &printed) // the process exits by itself, which is an error
	if printed.String() != "0\n" {
		t.Errorf("got the sum %q of the ID of the process group and the number in the file, want 0", printed.String())
	}
	if left, err := filepath.Glob(folder + ".*"); err != nil || len(left) > 0 {
		t.Errorf("got remaining files %v, %v", left, err)
	}
}

func TestTMPDIRWithoutNamespaces(t *testing.T) {
	needsProcess(t)
	folder := t.TempDir()
	tmpdir := func(c Container) string {
		c.Path, c.Arguments = "/bin/sh", []string{"-c", `echo "$TMPDIR"; test -d "$TMPDIR" && echo is there`}
		var printed output
		_ = runOnHost(t.Context(), c, folder, serveHello, &printed) // the process exits by itself, which is an error
		return printed.String()
	}
	if got := tmpdir(Container{}); !strings.HasPrefix(got, folder+"/") || !strings.HasSuffix(got, "\nis there\n") {
		t.Errorf("got %q", got)
	}
	if got := tmpdir(Container{Env: []string{"TMPDIR=/elsewhere"}}); got != "/elsewhere\n" {
		t.Errorf("got %q", got)
	}
}
