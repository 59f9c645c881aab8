package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/test/harness/report/page"
	"github.com/operator-assay/assay/test/harness/report/results"
)

// annotate prints failures as GitHub's workflow commands, which mark them in the files of a change: a spec at the line
// where it failed, and each cause of failed plans at the file of the scenarios, as a warning if it is unstable or unconfirmed.
func annotate(command *cobra.Command, folders []string) error {
	content, err := page.ReadFolders(folders, "")
	if err != nil {
		return err
	}
	out := command.OutOrStdout()
	for _, s := range content.Suites {
		for _, test := range s.Tests {
			if test.Outcome == results.Failed {
				file, line, _ := strings.Cut(test.Source, ":")
				annotation(out, "error", file, line, s.Name+": "+test.Name, test.Failure+"\n"+test.Rerun)
			}
		}
	}
	for _, e := range content.Explorations {
		for _, p := range e.Panics {
			annotation(out, "error", e.About.Source, "", "panic "+p.Message, "without any fault, in "+p.Scenario)
		}
		for _, cause := range e.Causes() {
			title := fmt.Sprintf("%s, in %d of %d plans", cause.Symptom, len(cause.Plans), len(e.Plans))
			level := "error"
			if cause.IsDoubtful() {
				level = "warning"
			}
			annotation(out, level, e.About.Source, "", title, "for example "+e.Plans[cause.Plans[0]].String())
		}
	}
	return nil
}

var (
	escapedMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapedProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func annotation(out io.Writer, level, file, line, title, message string) {
	var properties []string
	for _, p := range [][2]string{{"file", file}, {"line", line}, {"title", title}} {
		if p[1] != "" {
			properties = append(properties, p[0]+"="+escapedProperty.Replace(p[1]))
		}
	}
	fmt.Fprintf(out, "::%s %s::%s\n", level, strings.Join(properties, ","), escapedMessage.Replace(strings.TrimSpace(message)))
}
