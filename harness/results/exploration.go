package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/verdict"
)

// Exploration contains the results of an exploration.
type Exploration struct {
	Format  int       `json:"format"` // set by Encode
	About   About     `json:"about"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	Seed    uint64    `json:"seed"`
	Shard   Shard     `json:"shard,omitzero"`
	// Interrupted is true if the exploration was canceled or is still running. Plans or reruns may then be missing.
	Interrupted bool `json:"interrupted,omitzero"`
	// References contains one fault-free run per scenario.
	References   map[string]*Run       `json:"references,omitempty"`
	WithoutFault []FindingWithoutFault `json:"findingsWithoutFault,omitempty"`
	Plans        []Plan                `json:"plans"`
}

// About describes what was explored. All fields are optional.
type About struct {
	// Operator is the path or name of the operator, and Revision its version or commit.
	Operator string `json:"operator,omitempty"`
	Revision string `json:"revision,omitempty"`
	// Kubernetes is the version of the API server, and Assay the version of this tool.
	Kubernetes string `json:"kubernetes,omitempty"`
	Assay      string `json:"assay,omitempty"`
	// Source is the path of the scenario file, relative to the repository root.
	Source string `json:"source,omitempty"`
}

// FindingWithoutFault is a finding in a fault-free run.
type FindingWithoutFault struct {
	Scenario string `json:"scenario"`
	verdict.Finding
}

// Severity returns the severity of the finding.
func (f FindingWithoutFault) Severity() verdict.Severity { return f.Oracle.Severity() }

// Plan is a plan with its result.
type Plan struct {
	Scenario string `json:"scenario"`
	Category string `json:"category"`
	Type     string `json:"type"`
	// At is the request or watch into which the fault was injected. It is empty if the fault affects all requests.
	At string `json:"at,omitempty"`
	// Then holds the second fault of a pair and the request into which it was injected. The request number counts only
	// requests sent after the first fault.
	Then   string `json:"then,omitempty"`
	Passed bool   `json:"passed"`
	Rerun  string `json:"rerun,omitempty"`
	Outcome
}

// Outcome describes what happened when a plan was run.
type Outcome struct {
	// Triggered is true if the fault was injected or, for a pair, if both faults were. If the operator never sends the
	// request that the fault applies to, the run proves nothing.
	Triggered bool `json:"triggered"`
	// NeedsBoth is true if the scenario failed with a pair of faults but passes with either fault alone.
	NeedsBoth bool `json:"needsBoth,omitzero"`
	// Findings contains the findings of the oracles. It is empty if the plan passed.
	Findings []verdict.Finding `json:"findings,omitempty"`
	// Confirmation counts how often the failure was reproduced. It is nil if the plan was not rerun.
	Confirmation *verdict.Confirmation `json:"confirmation,omitempty"`
	Requests     int                   `json:"requests"`
	Seconds      float64               `json:"seconds"`
	// Run is the timeline of the plan. It is set if the plan failed, and for the first plan that passed for each
	// combination of scenario and fault type.
	Run *Run `json:"run,omitempty"`
}

// State returns Failed, Missed or Passed.
func (p Plan) State() string {
	switch {
	case !p.Passed:
		return Failed
	case !p.Triggered:
		return Missed
	}
	return Passed
}

// Fault returns the faults as text, for example "crash-after apply deployments.apps web 1".
func (p Plan) Fault() string { return strings.Join(p.Faults(), ", then ") }

// Faults returns the fault, or both faults of a pair.
func (p Plan) Faults() []string {
	faults := []string{strings.TrimSpace(p.Type + " " + p.At)}
	if p.Then != "" {
		faults = append(faults, p.Then)
	}
	return faults
}

// Types returns the fault type or, for a pair, a string such as "crash-after, then stale".
func (p Plan) Types() string {
	if second, _, _ := strings.Cut(p.Then, " "); second != "" {
		return p.Type + ", then " + second
	}
	return p.Type
}

// String returns the plan in the format of the --plan flag.
func (p Plan) String() string { return p.Scenario + " " + p.Fault() }

// Encode writes the exploration as a single line of JSON.
func (e Exploration) Encode(out io.Writer) error {
	e.Format = format
	return json.NewEncoder(out).Encode(e)
}

// Names of the files that WriteFiles creates.
const (
	ExplorationFile = "results.json"
	JUnitFile       = "junit.xml"
)

// WriteFiles writes the exploration to a directory in JSON and JUnit format.
func (e Exploration) WriteFiles(dir string) error {
	var text bytes.Buffer
	junit, err := e.junit()
	if err := errors.Join(err, e.Encode(&text)); err != nil {
		return err
	}
	return errors.Join(
		WriteFile(filepath.Join(dir, ExplorationFile), text.Bytes()),
		WriteFile(filepath.Join(dir, JUnitFile), junit))
}
