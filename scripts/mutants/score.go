package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/terminal"
)

// score counts what became of mutants.
type score struct{ killed, accepted, survived, unreached int }

// with counts another one.
func (s score) with(f *fate) score {
	switch {
	case f.killed():
		s.killed++
	case f.accepted != "":
		s.accepted++
	case f.reached():
		s.survived++
	default:
		s.unreached++
	}
	return s
}

// percent is the share of those that somebody could notice.
func (s score) percent() float64 {
	return 100 * float64(s.killed) / float64(max(1, s.killed+s.survived+s.unreached))
}

// tellScore tells of each invented mutant that survived, and sums up by file and by class. The error names what must
// change: the tests, the operator or the list of what is accepted.
func (in *invention) tellScore(all bool, took time.Duration) error {
	var total score
	byFile, byClass := map[string]score{}, map[string]score{}
	var wrong []string
	exists := map[string]bool{}
	suite := results.Suite{Name: "mutants", Started: time.Now().Add(-took), Seconds: took.Seconds()}
	for _, m := range in.mutants {
		f := in.fates[m.Number]
		exists[m.Name()] = true
		if f.killed() && f.accepted != "" {
			wrong = append(wrong, fmt.Sprintf("%s is accepted as one that no test can notice, but %s does: take it off %s", m.Name(), f.killedBy, acceptedFile))
		}
		total, byFile[m.File], byClass[m.Class] = total.with(f), byFile[m.File].with(f), byClass[m.Class].with(f)
		suite.Tests = append(suite.Tests, f.result())
		if !f.killed() && f.accepted == "" {
			in.told.survivor(f)
		}
	}
	if all {
		for name := range in.accepted {
			if !exists[name] && strings.HasPrefix(name, in.folder+"/") {
				wrong = append(wrong, fmt.Sprintf("%s is accepted, but no such mutant is invented any more: take it off %s", name, acceptedFile))
			}
		}
	}
	for _, line := range in.unsound {
		fmt.Fprintln(in.told.out, line)
	}
	for _, out := range []io.Writer{in.told.out, in.told.table} {
		fmt.Fprintf(out, "\n| invented mutants of | killed | accepted | survived | unreached | score |\n|---|---|---|---|---|---|\n")
		for _, group := range []map[string]score{byFile, byClass, {"all": total}} {
			for _, name := range slices.Sorted(maps.Keys(group)) {
				s := group[name]
				fmt.Fprintf(out, "| %s | %d | %d | %d | %d | %.1f %% |\n", name, s.killed, s.accepted, s.survived, s.unreached, s.percent())
			}
		}
		fmt.Fprintf(out, "\n%d mutants in %s\n", len(in.mutants), took.Round(time.Second))
	}
	slices.Sort(wrong)
	if open := total.survived + total.unreached; open > 0 {
		wrong = append(wrong, fmt.Sprintf("%d of %d invented mutants survived: delete what they change if nothing needs it, write the test that notices them, or list them in %s with the reason why none can",
			open, len(in.mutants), acceptedFile))
	}
	if err := suite.Write(filepath.Join(in.shop.dir, results.SuiteFile)); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// result is the fate as a test of the repository's results.
func (f *fate) result() results.Test {
	test := results.Test{Name: f.mutant.String(), Seconds: f.took.Seconds(), Outcome: results.Passed,
		Source: fmt.Sprintf("%s:%d", f.mutant.File, f.mutant.Line), Failure: ""}
	switch {
	case f.killed():
		test.Steps = []results.TestStep{{Name: "noticed by " + f.killedBy}}
	case f.accepted != "":
		test.Outcome, test.Failure = results.Skipped, "no test can notice it: "+f.accepted
	default:
		test.Outcome, test.Failure = results.Failed, f.mutant.Diff()+f.witnesses(len(f.units)+len(f.specs))
		test.Rerun = fmt.Sprintf("make test-mutants FOCUS='%s:%d '", f.mutant.File, f.mutant.Line)
	}
	return test
}

// witnesses are the tests and specs that reached a mutant without noticing it, so many at the most.
func (f *fate) witnesses(most int) string {
	var out strings.Builder
	all := slices.Concat(f.units, f.specs)
	if len(all) == 0 {
		return "nothing reaches it\n"
	}
	fmt.Fprintf(&out, "reached by %d without being noticed:\n", len(all))
	for _, name := range all[:min(most, len(all))] {
		fmt.Fprintf(&out, "  %s\n", name)
	}
	return out.String()
}

// survivor tells of a mutant that nobody noticed.
func (t *teller) survivor(f *fate) {
	fmt.Fprintf(t.out, "\n%s %s\n", t.painter.Paint(terminal.Red, "SURVIVED"), f.mutant)
	for line := range strings.Lines(f.mutant.Diff() + f.witnesses(3)) {
		fmt.Fprintf(t.out, "      %s", line)
	}
}
