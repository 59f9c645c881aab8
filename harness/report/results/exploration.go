package results

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/verdict"
)

// Exploration is what one exploration of an operator has found.
type Exploration struct {
	Head
	About   About     `json:"about"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	Seed    uint64    `json:"seed"`
	// Shard is which part of the plans these are.
	Shard Shard `json:"shard,omitzero"`
	// Interrupted tells that not all of them were run, or confirmed: the exploration goes on, or was interrupted.
	Interrupted bool `json:"interrupted,omitzero"`
	// References are runs without a fault, by scenario.
	References map[string]*Run `json:"references,omitempty"`
	// Panics are those of runs without a fault.
	Panics []PanicWithoutFault `json:"panicsWithoutFault,omitempty"`
	Plans  []Plan              `json:"plans"`
}

// About says what was explored, for a reader who was not there. All of it may be empty.
type About struct {
	// Operator is its path or name, and Revision its version or commit.
	Operator string `json:"operator,omitempty"`
	Revision string `json:"revision,omitempty"`
	// Kubernetes is the API server's version, Assay this tool's.
	Kubernetes string `json:"kubernetes,omitempty"`
	Assay      string `json:"assay,omitempty"`
	// Source is the file that holds the scenarios, relative to the repository.
	Source string `json:"source,omitempty"`
}

// Plan is the result of a plan: a scenario under a fault.
type Plan struct {
	Scenario string `json:"scenario"`
	Category string `json:"category"`
	// Type is the fault's, At the request at which it applies; empty for faults that apply to all requests.
	Type string `json:"type"`
	At   string `json:"at,omitempty"`
	// Then is the second fault of a pair, which is counted from the first.
	Then string `json:"then,omitempty"`
	// Triggered tells whether the fault applied, and of a pair both. A plan whose fault did not proves nothing.
	Triggered bool `json:"triggered"`
	// NeedsBoth tells of a pair that failed that the scenario passes with each of its faults alone.
	NeedsBoth bool              `json:"needsBoth,omitzero"`
	Passed    bool              `json:"passed"`
	Findings  []verdict.Finding `json:"findings,omitempty"`
	// Confirmation is how often the failure came again; only of one example of each cause.
	Confirmation *verdict.Confirmation `json:"confirmation,omitempty"`
	// Requests is how many requests the operator sent.
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"`
	// Rerun is the command that runs the plan again.
	Rerun string `json:"rerun,omitempty"`
	// Run is what happened: of failures, and of the first plan of each scenario and fault type that passed.
	Run *Run `json:"run,omitempty"`
}

// Fault is the fault's form in a plan: "crash-after apply deployments.apps web 1".
func (p Plan) Fault() string { return strings.Join(p.Faults(), ", then ") }

// Faults are the fault, or the two of a pair.
func (p Plan) Faults() []string {
	faults := []string{strings.TrimSpace(p.Type + " " + p.At)}
	if p.Then != "" {
		faults = append(faults, p.Then)
	}
	return faults
}

// Types is the fault's type, and of a pair such as "crash-after, then stale".
func (p Plan) Types() string {
	if second, _, _ := strings.Cut(p.Then, " "); second != "" {
		return p.Type + ", then " + second
	}
	return p.Type
}

// String is the plan, as --plan takes it.
func (p Plan) String() string { return p.Scenario + " " + p.Fault() }

// Encode writes the exploration as one line of JSON.
func (e Exploration) Encode(out io.Writer) error {
	e.Head = Head{explorationFormat, KindExploration}
	return json.NewEncoder(out).Encode(e)
}

// Write writes the exploration to a file.
func (e Exploration) Write(path string) error {
	e.Head = Head{explorationFormat, KindExploration}
	return write(path, e)
}

// The files of an exploration in its folder.
const (
	ExplorationFile = "results.json"
	JUnitFile       = "junit.xml"
)

// WriteFiles writes the exploration to a directory, as JSON and as JUnit.
func (e Exploration) WriteFiles(dir string) error {
	junit, err := e.junit()
	if err != nil {
		return err
	}
	return errors.Join(
		e.Write(filepath.Join(dir, ExplorationFile)),
		WriteFile(filepath.Join(dir, JUnitFile), junit))
}
