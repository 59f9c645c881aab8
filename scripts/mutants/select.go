package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// changes holds the lines that differ from a revision, keyed by path relative to the working directory.
type changes map[string]map[int]bool

func changesSince(ctx context.Context, revision string) (changes, error) {
	out, err := exec.CommandContext(ctx, "git", "diff", "--relative", "--unified=0", "--no-color", "--no-ext-diff", revision, "--", "*.go").Output()
	if err != nil {
		return nil, fmt.Errorf("compare with revision %q: %w", revision, err)
	}
	return readDiff(string(out)), nil
}

var hunk = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

func readDiff(text string) changes {
	found, file := changes{}, ""
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
			file = strings.TrimSpace(name)
			found[file] = map[int]bool{}
		}
		if match := hunk.FindStringSubmatch(line); match != nil {
			first, _ := strconv.Atoi(match[1]) // the expression only matches digits
			count, err := strconv.Atoi(match[2])
			if err != nil {
				count = 1 // git omits a count of 1
			}
			for i := range count {
				found[file][first+i] = true
			}
		}
	}
	return found
}

func (c changes) touch(m *mutant) bool {
	for line := m.first; line <= m.last; line++ {
		if c[m.file][line] {
			return true
		}
	}
	return false
}

// equivalentsFile lists mutants that no test can kill. Each paragraph contains the printed diff and the reason.
const equivalentsFile = "test/fixtures/mutants/equivalents.txt"

func readEquivalents(text string) (map[string]string, error) {
	read := map[string]string{}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		diff, reason := "", ""
		for line := range strings.SplitSeq(paragraph, "\n") {
			if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") {
				diff += line + "\n"
			} else {
				reason += line
			}
		}
		if read[diff] = reason; diff == "" || reason == "" {
			return nil, fmt.Errorf("%s: this paragraph needs a diff and a reason:\n%s", equivalentsFile, paragraph)
		}
	}
	return read, nil
}
