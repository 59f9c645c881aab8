package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// changes holds the lines that differ from a revision, by path relative to the working directory.
type changes map[string][][2]int

var hunk = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// changesSince returns the lines of the working tree that differ from a revision of git.
func changesSince(ctx context.Context, revision string) (changes, error) {
	out, err := exec.CommandContext(ctx, "git", "diff", "--relative", "--unified=0", "--no-color", "--no-ext-diff", revision, "--", "*.go").Output()
	if err != nil {
		return nil, fmt.Errorf("compare with revision %q: %w", revision, err)
	}
	return readDiff(string(out)), nil
}

func readDiff(text string) changes {
	found, file := changes{}, ""
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
			file = strings.TrimSpace(name)
		}
		if match := hunk.FindStringSubmatch(line); match != nil {
			first, _ := strconv.Atoi(match[1]) // the expression allows only digits
			count := 1
			if match[2] != "" {
				count, _ = strconv.Atoi(match[2])
			}
			found[file] = append(found[file], [2]int{first, first + count - 1})
		}
	}
	return found
}

// touch reports whether a mutant changes one of the lines.
func (c changes) touch(m *mutant) bool {
	for file, spans := range m.lines {
		for _, span := range spans {
			for _, changed := range c[file] {
				if span[0] <= changed[1] && changed[0] <= span[1] {
					return true
				}
			}
		}
	}
	return false
}
