package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// equivalentsFile lists mutants that no test can kill. Each paragraph is a mutant's diff, as survivors are printed, and
// the reason.
const equivalentsFile = "test/fixtures/mutants/equivalents.txt"

// equivalents holds the reason for each diff.
type equivalents map[string]string

func readEquivalents(path string) (equivalents, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseEquivalents(path, string(text))
}

func parseEquivalents(path, text string) (equivalents, error) {
	read := equivalents{}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var diff, reason strings.Builder
		for line := range strings.SplitSeq(paragraph, "\n") {
			if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") {
				fmt.Fprintln(&diff, line)
			} else {
				fmt.Fprint(&reason, line, " ")
			}
		}
		if diff.Len() == 0 || reason.Len() == 0 {
			return nil, fmt.Errorf("%s: this paragraph needs a diff and a reason:\n%s", path, paragraph)
		}
		read[diff.String()] = strings.TrimSpace(reason.String())
	}
	return read, nil
}

// obsolete returns an error if a diff belongs to none of the mutants.
func (e equivalents) obsolete(results []*result) error {
	rest := maps.Clone(e)
	for _, r := range results {
		delete(rest, r.diff)
	}
	if len(rest) == 0 {
		return nil
	}
	return fmt.Errorf("remove from %s what is no mutant any more:\n%s", equivalentsFile, strings.Join(slices.Sorted(maps.Keys(rest)), "\n"))
}
