package results

import (
	"fmt"
	"strings"
)

// FailureText prints the failures, one example for each cause: the findings, the requests around the fault, the
// operator's log, and the command that runs it again.
func (e Exploration) FailureText() string {
	var out strings.Builder
	for _, cause := range Causes(e.Plans) {
		example := e.Plans[cause.Plans[0]]
		fmt.Fprintf(&out, "✗ %s\n", cause.Symptom)
		for _, place := range cause.Places {
			fmt.Fprintf(&out, "  %-16s %s at %s\n", count(len(place.Plans), "plan"), strings.Join(place.Types, ", "), place.Request)
		}
		fmt.Fprintf(&out, "  %-16s %s\n%s\n", "for example", example, example.text())
	}
	return out.String()
}

// text is what a failure has to tell.
func (p Plan) text() string {
	var out strings.Builder
	row := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&out, "  %-16s %s\n", title, strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 19)))
		}
	}
	for _, finding := range p.Findings {
		row(finding.Oracle, finding.Message)
	}
	if p.Run != nil {
		row("requests", p.Run.Story(p.Fault()))
		row("operator's log", p.Run.logTail())
	}
	row("rerun", p.Rerun)
	return out.String()
}

// storyLines is how many lines of the log a failure prints.
const storyLines = 20

func (r *Run) logTail() string {
	var lines []string
	for _, line := range r.Log[max(0, len(r.Log)-storyLines):] {
		lines = append(lines, line.Text)
	}
	return strings.Join(lines, "\n")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
