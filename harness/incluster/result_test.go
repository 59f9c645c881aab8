package incluster

import (
	"bytes"
	"math/rand"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// logOf returns a log with progress messages before and between the lines of the result, as if they came from two
// streams.
func logOf(t *testing.T, result []byte) string {
	t.Helper()
	var written bytes.Buffer
	if err := writeLog(&written, result); err != nil {
		t.Fatal(err)
	}
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
	var forwarded []string
	got, err := readLog(strings.NewReader(log), func(line string) { forwarded = append(forwarded, line) })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(result))
	g.Expect(forwarded).To(Equal([]string{"explore    1 of 2 plans", "a warning"}))

	last := strings.LastIndex(log, partMark)
	_, err = readLog(strings.NewReader(log[:last]+endMark+"\n"), func(string) {})
	g.Expect(err).To(MatchError(errDamaged), "log without its last part")
}

func TestReadLogOfIncompleteResult(t *testing.T) {
	g := NewWithT(t)
	ignore := func(string) {}
	result := []byte(strings.Repeat("plan ", 100))
	log := logOf(t, result)
	for cut := range len(log) {
		got, err := readLog(strings.NewReader(log[:cut]), ignore)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(BeNil(), "first %d characters of the log", cut)
	}
	var lines []string
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, partMark) {
			lines = append(lines, line)
		}
	}
	_, err := readLog(strings.NewReader(strings.Join(lines, "")), ignore)
	g.Expect(err).To(MatchError(errDamaged), "log without its first part, as after a rotation")
}
