package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/operator-assay/assay/harness/report/page"
	"github.com/operator-assay/assay/harness/report/results"
)

// failure is a test that failed, a failure outside of any test, or a cause of failed plans. file and line say where, if that
// is known.
type failure struct {
	title, message string
	file, line     string
	doubtful       bool // unstable or unconfirmed
}

// failuresOf are those of all results: a spec is at the line where it failed, and a cause at the file of the scenarios.
func failuresOf(content page.Content) []failure {
	var all []failure
	for _, s := range content.Suites {
		for _, test := range s.Tests {
			if test.Outcome == results.Failed {
				file, line, _ := strings.Cut(test.Source, ":")
				all = append(all, failure{title: s.Name + ": " + test.Name, message: test.Failure + "\n" + test.Rerun, file: file, line: line})
			}
		}
		for _, text := range s.Errors {
			all = append(all, failure{title: s.Name + ", outside of any test", message: text})
		}
	}
	for _, e := range content.Explorations {
		for _, p := range e.Panics {
			all = append(all, failure{title: "panic " + p.Message, message: "without any fault, in " + p.Scenario, file: e.About.Source})
		}
		for _, cause := range e.Causes() {
			all = append(all, failure{
				title:    fmt.Sprintf("%s, in %d of %d plans", cause.Symptom, len(cause.Plans), len(e.Plans)),
				message:  "for example " + e.Plans[cause.Plans[0]].String(),
				file:     e.About.Source,
				doubtful: cause.IsDoubtful(),
			})
		}
	}
	return all
}

var (
	escapedMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapedProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// annotate prints failures as GitHub's workflow commands, which mark them in the files of a change, and as warnings those that
// are doubtful.
func annotate(out io.Writer, failures []failure) {
	for _, f := range failures {
		var properties []string
		for _, p := range [][2]string{{"file", f.file}, {"line", f.line}, {"title", f.title}} {
			if p[1] != "" {
				properties = append(properties, p[0]+"="+escapedProperty.Replace(p[1]))
			}
		}
		level := "error"
		if f.doubtful {
			level = "warning"
		}
		fmt.Fprintf(out, "::%s %s::%s\n", level, strings.Join(properties, ","), escapedMessage.Replace(strings.TrimSpace(f.message)))
	}
}
