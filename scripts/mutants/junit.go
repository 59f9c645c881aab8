package main

import (
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
)

type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Time    float64       `xml:"time,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes one test case for each mutant. A mutant that survived is a failure.
func writeJUnit(path string, results []*result) error {
	suite := junitSuite{Name: "mutants", Tests: len(results)}
	for _, r := range results {
		c := junitCase{Name: r.name, Time: r.took.Seconds(), Output: r.killedBy}
		if r.accepted != "" {
			suite.Skipped++
			c.Skipped = &junitMessage{r.accepted, r.diff}
		} else if r.killedBy == "" {
			suite.Failures++
			c.Failure = &junitMessage{"survived", r.diff}
		}
		suite.Cases = append(suite.Cases, c)
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	return errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o644))
}
