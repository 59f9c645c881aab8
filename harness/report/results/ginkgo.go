package results

import (
	"fmt"
	"strings"

	"github.com/onsi/ginkgo/v2/types"
)

// FromGinkgo returns a report of Ginkgo as a suite: specs are tests, and what they say with By are their steps.
func FromGinkgo(r types.Report) Suite {
	s := Suite{Name: strings.ToLower(r.SuiteDescription), Started: r.StartTime.UTC(), Seconds: r.RunTime.Seconds()}
	for _, reason := range r.SpecialSuiteFailureReasons {
		s.Errors = append(s.Errors, strings.TrimSpace(reason))
	}
	for _, spec := range r.SpecReports {
		from := spec.StartTime.Sub(r.StartTime).Seconds()
		switch isSpec := spec.LeafNodeType == types.NodeTypeIt; {
		case isSpec && (spec.State != types.SpecStateSkipped || spec.Failure.Message != ""): // a filter has left out the others
			s.Tests = append(s.Tests, testOf(spec, from, r.SuitePath))
		case isSpec || spec.State == types.SpecStatePending:
		case spec.State.Is(types.SpecStateFailureStates):
			s.Errors = append(s.Errors, spec.LeafNodeType.String()+": "+spec.FailureMessage())
		case spec.RunTime > 0:
			s.Phases = append(s.Phases, TestStep{Name: spec.LeafNodeType.String(), From: from, Seconds: spec.RunTime.Seconds()})
		}
	}
	return s
}

func testOf(spec types.SpecReport, from float64, root string) Test {
	test := Test{Name: scenarioName(spec.FullText()), From: from, Seconds: spec.RunTime.Seconds(), Outcome: Passed, Failure: spec.Failure.Message}
	switch {
	case spec.State.Is(types.SpecStateFailureStates):
		test.Outcome = Failed
		test.Source = fmt.Sprintf("%s:%d", relative(spec.Failure.Location.FileName, root), spec.Failure.Location.LineNumber)
	case spec.State.Is(types.SpecStateSkipped | types.SpecStatePending):
		test.Outcome = Skipped
	}
	for _, entry := range spec.ReportEntries {
		if entry.Name == ArtifactsEntry {
			test.Artifacts = entry.StringRepresentation()
		}
	}
	for _, event := range spec.SpecEvents {
		if event.SpecEventType == types.SpecEventByStart {
			test.Steps = append(test.Steps, TestStep{Name: event.Message, From: event.TimelineLocation.Time.Sub(spec.StartTime).Seconds() + from})
		}
	}
	for i := range test.Steps { // a step lasts until the next one
		end := from + test.Seconds
		if i+1 < len(test.Steps) {
			end = test.Steps[i+1].From
		}
		test.Steps[i].Seconds = end - test.Steps[i].From
	}
	if n := len(test.Steps); n > 0 && test.Outcome == Failed {
		test.Steps[n-1].Failed = true
	}
	return test
}

// ArtifactsEntry is the name of the report entry in which a spec says where its artifacts are.
const ArtifactsEntry = "artifacts"

// scenarioName leaves out the container of the specs that are a catalogue's scenarios.
func scenarioName(name string) string {
	if scenario, ok := strings.CutPrefix(name, "Scenario "); ok && strings.Contains(scenario, "/") && !strings.Contains(scenario, " ") {
		return scenario
	}
	return name
}
