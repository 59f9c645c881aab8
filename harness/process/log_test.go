package process

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLastErrorSaysWhyAProgramGaveUp(t *testing.T) {
	for name, test := range map[string]struct{ log, want string }{
		"klog": {
			"I0101 00:00:00.1 starting\nE0101 00:00:01.2 run.go:72] address already in use\nI0101 00:00:02.3 bye\n",
			"E0101 00:00:01.2 run.go:72] address already in use",
		},
		"etcd": {
			`{"level":"info","msg":"a"}` + "\n" + `{"level":"fatal","msg":"b"}` + "\n" + `{"level":"info","msg":"c"}` + "\n",
			`{"level":"fatal","msg":"b"}`,
		},
		"slog":   {`{"level":"ERROR","msg":"b"}` + "\n" + `{"level":"INFO","msg":"c"}` + "\n", `{"level":"ERROR","msg":"b"}`},
		"a flag": {"Error: unknown flag: --oops\n\nUsage:\n  etcd\n", "Error: unknown flag: --oops"},
		"kubeadm": {
			"[init] Using\nerror: execution phase wait-control-plane: timed out\nTo see the stack trace of this error execute with --v=5 or higher\n",
			"error: execution phase wait-control-plane: timed out",
		},
		"docker":         {"docker: Error response from daemon: no such image.\nSee 'docker run --help'.\n", "docker: Error response from daemon: no such image."},
		"a C program":    {"tar: write error: No space left on device\ntar: exiting\n", NoSpace},
		"no error line":  {"one\ntwo\n\n", "two"},
		"no log at all":  {"", "the log is empty"},
		"the latest one": {"E0101 first\nE0102 second\n", "E0102 second"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte(test.log), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := LastError(path); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
