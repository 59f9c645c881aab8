package project

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuildWritesToFolderOfBinary passes -work, so that the temporary files in the folder are still there afterwards.
func TestBuildWritesToFolderOfBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the go command")
	}
	folder, out := write(t, map[string]string{"go.mod": "module example.com/operator\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"}), t.TempDir()
	t.Setenv("GOFLAGS", "-work")
	t.Setenv("GOOS", "plan9") // the binary must still run on this machine
	var printed strings.Builder
	noError(t, Build(t.Context(), folder, ".", filepath.Join(out, "manager"), "", &printed))
	if kept, err := filepath.Glob(filepath.Join(out, "go-build*")); err != nil || len(kept) == 0 {
		t.Errorf("got temporary files %q, %v, want some", kept, err)
	}
	if got, want := printed.String(), "build      . with go build\n"; got != want {
		t.Errorf("got output %q, want %q", got, want)
	}
	noError(t, exec.Command(filepath.Join(out, "manager")).Run())
}

func TestBuildNeedsGo(t *testing.T) {
	t.Setenv("PATH", "")
	err := Build(t.Context(), t.TempDir(), "./cmd", "manager", "give up", nil)
	if want := "building ./cmd requires go, which is not installed: install it, or give up"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %q", err, want)
	}
}

func TestBuildErrorContainsCompilerOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the go command")
	}
	module := "module example.com/operator\n\ngo 1.26\n"
	for name, test := range map[string]struct{ module, main, advice, says string }{
		"a mistake in the program":     {module, "package main\n\nfunc main() { nothing() }\n", "fix the build errors, or give up\n", "undefined: nothing"},
		"an unreadable git repository": {module, "package main\n\nfunc main() {}\n", "set GOFLAGS=-buildvcs=false, or give up\n", "error obtaining VCS status"},
		"an incomplete go.sum file":    {module + "\nrequire example.com/b v1.0.0\n", "package main\n\nimport _ \"example.com/b\"\n\nfunc main() {}\n", "run `go mod tidy`, or give up\n", "missing go.sum entry"},
	} {
		files := map[string]string{"go.mod": test.module, "main.go": test.main}
		if strings.HasSuffix(test.says, "VCS status") {
			files[".git/HEAD"] = "invalid"
			t.Setenv("GOFLAGS", "-buildvcs=true")
		}
		folder := write(t, files)
		err := Build(t.Context(), folder, ".", filepath.Join(folder, "manager"), "give up", nil)
		if err == nil || !strings.Contains(err.Error(), test.advice) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\nexample.com/operator\n") {
			t.Errorf("%s: got error %v, want %q and the compiler's output without the names of the packages", name, err, test.advice)
		}
	}
}

func TestBuildOutputIsSplit(t *testing.T) {
	for _, test := range []struct{ text, doing, errors string }{
		{"", "loading packages", ""},
		{"go: downloading k8s.io/api v0.37.0\n", "downloading k8s.io/api v0.37.0", ""},
		{"k8s.io/api/core/v1\nsigs.k8s.io/yaml/goyaml.v2\nk8s.", "compiling sigs.k8s.io/yaml/goyaml.v2", "k8s."},
		{"a/b\n# a/b\n./a.go:1:2: undefined: x\n\tsecond line\n", "compiling a/b", "# a/b\n./a.go:1:2: undefined: x\n\tsecond line\n"},
		{"go: updates to go.mod needed\n", "loading packages", "go: updates to go.mod needed\n"},
		{strings.Repeat("a.go: wrong\n", 22), "loading packages", strings.Repeat("a.go: wrong\n", 20) + "… and 2 more lines\n"},
	} {
		var output buildOutput
		for _, part := range strings.SplitAfter(test.text, "o") { // the output arrives in arbitrary parts
			_, _ = output.Write([]byte(part))
		}
		if got := output.now(); got != test.doing || output.errors() != strings.TrimSpace(test.errors) {
			t.Errorf("%q: got %q and errors %q, want %q and %q", test.text, got, output.errors(), test.doing, test.errors)
		}
	}
}
