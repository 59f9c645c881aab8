package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// acceptedFile lists the mutants that no test can notice, and why.
const acceptedFile = "test/fixtures/mutants/equivalents.txt"

// readAccepted reads it: a mutant's name on a line, and below, indented, the reason. What begins with # is a comment.
func readAccepted(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reasons, names := map[string]string{}, []string(nil)
	lines := bufio.NewScanner(file)
	for number, told := 1, false; lines.Scan(); number++ {
		line := lines.Text()
		switch {
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			if len(names) == 0 {
				return nil, fmt.Errorf("%s:%d: a reason without a mutant above it", path, number)
			}
			for _, name := range names {
				reasons[name] = strings.TrimSpace(reasons[name] + " " + strings.TrimSpace(line))
			}
			told = true
		default:
			if told {
				names, told = nil, false
			}
			if _, twice := reasons[line]; twice {
				return nil, fmt.Errorf("%s:%d: %s is listed twice", path, number, line)
			}
			names = append(names, line)
			reasons[line] = ""
		}
	}
	for name, reason := range reasons {
		if reason == "" {
			return nil, fmt.Errorf("%s: %s has no reason: say on an indented line below why no test can notice it", path, name)
		}
	}
	return reasons, lines.Err()
}
