package results

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/onsi/ginkgo/v2/types"
)

// catalogue is the container whose specs are the catalogue's scenarios, and writes the entry in which they
// tell their requests.
const (
	catalogue = "Scenario"
	writes    = "writes"
)

// readGinkgo reads the specs that a run has selected.
func readGinkgo(file string) ([]Result, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var suites []types.Report
	if err := json.Unmarshal(text, &suites); err != nil {
		return nil, fmt.Errorf("%s is no report of Ginkgo: %w", file, err)
	}
	var all []Result
	for _, suite := range suites {
		for _, reason := range suite.SpecialSuiteFailureReasons {
			all = append(all, Result{Tier: tierOf(file), Scenario: "the suite: " + oneLine(reason), Outcome: Failed})
		}
		for _, spec := range suite.SpecReports {
			if r, ok := ofSpec(spec); ok {
				r.Tier = tierOf(file)
				all = append(all, r)
			}
		}
	}
	return all, nil
}

// ofSpec reads a spec, unless it was not selected or is a node around the specs that went well.
func ofSpec(spec types.SpecReport) (Result, bool) {
	r := Result{Scenario: spec.FullText(), Took: spec.RunTime}
	switch {
	case spec.State.Is(types.SpecStateFailureStates):
		r.Outcome = Failed
	case spec.State.Is(types.SpecStateSkipped | types.SpecStatePending):
		r.Outcome = Skipped
	default:
		r.Outcome = Passed
	}
	aside := !spec.LeafNodeType.Is(types.NodeTypeIt)
	if r.Outcome != Failed && aside || r.Outcome == Skipped && spec.Failure.Message == "" {
		return Result{}, false
	}
	if aside {
		r.Scenario = spec.LeafNodeType.String()
	}
	if len(spec.ContainerHierarchyTexts) > 0 && spec.ContainerHierarchyTexts[0] == catalogue && strings.Contains(spec.LeafNodeText, "/") {
		r.Scenario, r.Story = spec.LeafNodeText, true
	}
	for _, entry := range spec.ReportEntries {
		if entry.Name == writes {
			_, r.Writes, _ = strings.Cut(entry.StringRepresentation(), ": ")
		}
	}
	return r, true
}
