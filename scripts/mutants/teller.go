package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/terminal"
)

// teller tells of the mutants while they are tried, a line each.
type teller struct {
	out     io.Writer
	painter terminal.Painter
	table   io.Writer // of the verdicts, as Markdown
}

func newTeller(out *os.File, table io.Writer) *teller {
	fmt.Fprint(table, "### Mutants\n\n| mutant | verdict | time | noticed by |\n|---|---|---|---|\n")
	return &teller{out: out, painter: terminal.PainterFor(out), table: table}
}

// nameWidth fits the names of most mutants.
const nameWidth = 56

// baseline tells that the operator as it is has passed what mutants name.
func (t *teller) baseline(suite, what string, took time.Duration) {
	fmt.Fprintf(t.out, "%-*s %s  %7s  %s\n", nameWidth, fmt.Sprintf("%s, without any mutant", suite), t.painter.Paint(terminal.Green, "passed  "), seconds(took), what)
}

// verdict tells what became of a mutant, and of one that was not killed as it should be all that is known.
func (t *teller) verdict(v verdict, shop *workshop) {
	word, known := v.words()
	colour := terminal.Red
	if v.killed {
		colour = terminal.Green
	}
	fmt.Fprintf(t.out, "%-*s %s  %7s  %s\n", nameWidth, v.mutant, t.painter.Paint(colour, fmt.Sprintf("%-8s", word)), seconds(v.took), known)
	fmt.Fprintf(t.table, "| %s | %s | %s | %s |\n", v.mutant, word, seconds(v.took), strings.NewReplacer("\n", " ", "|", `\|`).Replace(known))
	if v.killed {
		return
	}
	kept := filepath.Join(shop.dir, v.mutant.Class+"-"+v.mutant.Name)
	for _, line := range [][2]string{{"bug", v.mutant.Description}, {"must fail", v.mutant.KilledBy}, {"kept", kept},
		{"rerun", fmt.Sprintf("make test-mutants FOCUS='^%s$'", v.mutant)}} {
		fmt.Fprintf(t.out, "      %-9s %s\n", line[0], line[1])
	}
}

// words are a verdict in one, and what is known besides.
func (v verdict) words() (word, known string) {
	switch {
	case v.killed:
		return "killed", v.by
	case v.err != nil:
		return "UNTRIED", v.err.Error()
	case v.by == "":
		return "SURVIVED", "what it names has let it through"
	default:
		return "MISTAKEN", "noticed by another, " + v.by
	}
}

// sum tells how many were killed. The error is not nil unless all were, each by what it names.
func (t *teller) sum(verdicts []verdict, took time.Duration) error {
	killed := 0
	for _, v := range verdicts {
		if v.killed {
			killed++
		}
	}
	fmt.Fprintf(t.out, "\n%d of %d mutants killed by what they name, in %s\n", killed, len(verdicts), took.Round(time.Second))
	if killed < len(verdicts) {
		return fmt.Errorf("%d of %d mutants were not killed by what they name", len(verdicts)-killed, len(verdicts))
	}
	return nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
