package incluster

import (
	"bytes"
	"math/rand"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// logOf returns a Pod's log in which a progress message and a warning are mixed with the lines of the result.
func logOf(t *testing.T, result []byte) string {
	t.Helper()
	var written bytes.Buffer
	NewWithT(t).Expect(writeLog(&written, result)).To(Succeed())
	first, rest, _ := strings.Cut(written.String(), "\n")
	return "explore    1 of 2 plans\n" + first + "\na warning\n" + rest
}

func TestReadLogReturnsResult(t *testing.T) {
	g := NewWithT(t)
	result := make([]byte, 100_000) // random data cannot be compressed, so it takes many lines
	random := rand.New(rand.NewSource(1))
	_, _ = random.Read(result)
	log := logOf(t, result)
	g.Expect(strings.Count(log, partMark)).To(BeNumerically(">", 10))
	for line := range strings.Lines(log) {
		g.Expect(len(line)).To(BeNumerically("<", 16<<10), "container runtimes split longer lines")
	}
	got, _, err := readLog(strings.NewReader(log))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(result))
}

func TestReadLogOfIncompleteResult(t *testing.T) {
	g := NewWithT(t)
	log := logOf(t, []byte(strings.Repeat("plan ", 100)))
	for cut := range len(log) {
		got, _, err := readLog(strings.NewReader(log[:cut]))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(BeNil(), "first %d characters of the log", cut)
	}
	got, last, err := readLog(strings.NewReader("a warning\n" + endMark + "\n")) // as after a rotation
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(BeNil())
	g.Expect(last).To(Equal("the result in the log is not complete"))
}
