package process

import (
	"cmp"
	"os"
	"regexp"
	"strings"
)

// NoSpace is Go's error message for a full disk. C programs print it as "No space left on device", so LastErrorIn
// ignores case.
const NoSpace = "no space left on device"

// errorLine matches the lines in which klog, JSON loggers, cobra, kubeadm, docker and the Go runtime report an error.
var errorLine = regexp.MustCompile(`^[EF]\d{4} |"level":"(?i:error|fatal|panic)"|^(docker: )?([Ee]rror|panic|fatal error)\b.*: `)

// LastError returns the result of LastErrorIn for a log file.
func LastError(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return cmp.Or(LastErrorIn(string(content)), "the log is empty")
}

// LastErrorIn returns the most likely reason for a failure from the output of a program. It returns NoSpace if the
// output contains it. Otherwise it returns the last line that reports an error, or the last line that is not blank.
func LastErrorIn(text string) string {
	if strings.Contains(strings.ToLower(text), NoSpace) {
		return NoSpace
	}
	last, found := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		isError := errorLine.MatchString(line)
		if line != "" && (isError || !found) {
			last, found = line, isError || found
		}
	}
	return last
}
