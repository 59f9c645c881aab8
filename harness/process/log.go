package process

import (
	"cmp"
	"os"
	"regexp"
	"strings"
)

// NoSpace is the message of a full disk, in whatever log line or output it stands.
const NoSpace = "no space left on device"

// errorLine matches the lines in which klog, etcd, cobra and the Go runtime say why a program gives up.
var errorLine = regexp.MustCompile(`^[EF]\d{4} |"level":"(error|fatal|panic)"|^(Error|panic|fatal error):`)

// LastError returns why a program gave up, from its log file: what LastErrorIn returns.
func LastError(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return cmp.Or(LastErrorIn(string(content)), "it wrote no log")
}

// LastErrorIn returns why a program gave up, from what it wrote: NoSpace if a line mentions it, else the last line
// that reports an error, else the last line that is not blank.
func LastErrorIn(text string) string {
	if strings.Contains(text, NoSpace) {
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
