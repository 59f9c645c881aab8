package artifacts

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
)

func textLog(text string) Log {
	return func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func read(g Gomega, path ...string) string {
	content, err := os.ReadFile(filepath.Join(path...))
	g.Expect(err).NotTo(HaveOccurred())
	return string(content)
}

func TestSameNameGetsNewFolder(t *testing.T) {
	g := NewWithT(t)
	collector := &Collector{Dir: filepath.Join(t.TempDir(), "new"), Logs: map[string]Log{"operator.log": textLog("hello")}}
	var dirs []string
	for range 3 {
		dir, err := collector.Collect(t.Context(), "webserver/Heal: the Service", "namespace")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(read(g, dir, "operator.log")).To(Equal("hello"))
		dirs = append(dirs, filepath.Base(dir))
	}
	g.Expect(dirs).To(Equal([]string{
		"webserver-heal-the-service", "webserver-heal-the-service-2", "webserver-heal-the-service-3"}))
}

func TestFolderNameIsSafe(t *testing.T) {
	for _, name := range []string{"../../etc", "", "///", strings.Repeat("long ", 100)} {
		g := NewWithT(t)
		base := t.TempDir()
		dir, err := newFolder(base, name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(filepath.Dir(dir)).To(Equal(base))
		g.Expect(len(filepath.Base(dir))).To(And(BeNumerically(">", 0), BeNumerically("<=", 120)))
	}
}

func TestFailedPartDoesNotStopOthers(t *testing.T) {
	g := NewWithT(t)
	collector := &Collector{
		Dir:    t.TempDir(),
		Config: &rest.Config{Host: "127.0.0.1:1"}, // no server listens on this port
		Logs: map[string]Log{
			"a.log": func(context.Context, io.Writer) error { return errors.New("no such Pod") },
			"b.log": textLog("still here"),
			"c.log": File(filepath.Join(t.TempDir(), "missing")),
		},
	}
	dir, err := collector.Collect(t.Context(), "test", "namespace")
	g.Expect(err).To(MatchError(And(
		ContainSubstring("connection refused"), ContainSubstring("a.log: no such Pod"), ContainSubstring("c.log: open"))))
	g.Expect(read(g, dir, "b.log")).To(Equal("still here"))
	g.Expect(read(g, dir, "errors.txt")).To(Equal(err.Error() + "\n"))
}

func TestLongFileIsTruncatedAtStart(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "long.log")
	g.Expect(os.WriteFile(path, []byte("first"+strings.Repeat("x", fileLimit-4)+"last"), 0o644)).To(Succeed())
	var kept strings.Builder
	g.Expect(File(path)(t.Context(), &kept)).To(Succeed())
	g.Expect(kept.String()).To(Equal("... skipped 5 bytes\n" + strings.Repeat("x", fileLimit-4) + "last"))
}
