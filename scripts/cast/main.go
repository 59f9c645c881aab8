// Command cast runs a command and draws what it prints as an SVG that plays like a terminal, for the documents: nobody
// draws by hand what a program prints, and a reader sees how it feels without installing it.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/report/results"
)

const (
	// duration is how long the picture plays. The command's time is scaled to it.
	duration = 14 * time.Second
	// rows and columns are the size of the terminal.
	rows, columns = 26, 122
	lineHeight    = 18
	lineWidth     = 904 // of so many columns
	padding       = 16
)

// line is a line of output, with the time at which it was printed.
type line struct {
	at   time.Duration
	text string
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: cast FILE COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	lines, err := run(os.Args[2:])
	if err == nil {
		err = results.WriteFile(os.Args[1], []byte(draw("$ "+strings.Join(os.Args[2:], " "), lines)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run runs a command, prints its output, and returns it.
func run(command []string) ([]line, error) {
	home, err := os.UserHomeDir() // is nobody's business
	if err != nil {
		return nil, err
	}
	program := exec.Command(command[0], command[1:]...)
	program.Stderr = os.Stderr
	out, err := program.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := program.Start(); err != nil {
		return nil, err
	}
	var lines []line
	start := time.Now()
	scanner := bufio.NewScanner(io.TeeReader(out, os.Stdout))
	for scanner.Scan() {
		lines = append(lines, line{time.Since(start), strings.ReplaceAll(scanner.Text(), home, "~")})
	}
	return lines, program.Wait()
}

// draw returns the SVG: each line appears at its time, and the lines move up when there are more than rows. Who wants no
// motion sees the end.
func draw(prompt string, lines []line) string {
	lines = append([]line{{0, prompt}}, lines...)
	total := max(lines[len(lines)-1].at, time.Millisecond)
	at := func(l line) float64 { return (l.at.Seconds() / total.Seconds()) * duration.Seconds() }
	var text, moves strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&text, `<text y="%d" style="animation-delay:%.2fs"%s>%s</text>`+"\n", (i+1)*lineHeight, at(l), class(l.text), escaped(l.text))
		if up := i + 1 - rows; up > 0 {
			fmt.Fprintf(&moves, "%.2f%%{transform:translateY(-%dpx)}", 100*at(l)/duration.Seconds(), up*lineHeight)
		}
	}
	width, height := lineWidth+2*padding, rows*lineHeight+2*padding
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" role="img" aria-label="%[3]s">
<style>
.back{fill:#f6f7f8;stroke:#d9dcdf}text{font:12px/1 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#24292f;white-space:pre;opacity:0;animation:show 1ms forwards}
.good{fill:#1f6f4a}.bad{fill:#b3263c}.prompt{font-weight:600}
@keyframes show{to{opacity:1}}
@keyframes move{%[4]s}
.lines{animation:move %[5]ds step-end forwards}
@media (prefers-color-scheme:dark){.back{fill:#15181b;stroke:#2d3237}text{fill:#dde1e5}.good{fill:#7fd1a5}.bad{fill:#ff8c99}}
@media (prefers-reduced-motion:reduce){text{animation-delay:0s!important}.lines{animation-duration:1ms}}
</style>
<rect class="back" x=".5" y=".5" width="%[6]d" height="%[7]d" rx="8"/>
<svg x="%[8]d" y="%[8]d" width="%[6]d" height="%[9]d"><g class="lines">
%[10]s</g></svg>
</svg>
`, width, height, escaped(prompt), moves.String(), int(duration.Seconds()), width-1, height-1, padding, rows*lineHeight+4, text.String())
}

func class(text string) string {
	switch {
	case strings.HasPrefix(text, "$ "):
		return ` class="prompt"`
	case strings.Contains(text, "✗") || strings.Contains(text, "FAILED"):
		return ` class="bad"`
	case strings.Contains(text, " passed"):
		return ` class="good"`
	}
	return ""
}

// escaped is a line as an SVG shows it, cut where a terminal ends.
func escaped(text string) string {
	if runes := []rune(text); len(runes) > columns {
		text = string(runes[:columns])
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}
