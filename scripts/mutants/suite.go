package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/operator-assay/assay/test/fixtures/mutants"
)

// suite is how a suite's tests are run and what they say is read.
type suite struct {
	name mutants.Suite
	pkg  string
	// arguments have it run the tests that match an expression, and write to a file what it cannot say in
	// its output.
	arguments func(tests, results string) []string
	// toTheFirst is the argument that ends it at the first failure.
	toTheFirst string
	// timeout is the argument that ends it where it hangs, and limit when.
	timeout string
	limit   time.Duration
	read    func(ctx context.Context, out []byte, results string) (outcome, error)
}

func goArguments(tests, _ string) []string {
	return []string{"-test.v=test2json", "-test.run=" + tests}
}

func ginkgoArguments(tests, results string) []string {
	return []string{"-ginkgo.no-color", "-ginkgo.json-report=" + results, "-ginkgo.focus=" + tests}
}

// suites are the module's, in the order of what they cost.
var suites = []suite{
	{mutants.Unit, "operator/controller", goArguments, "-test.failfast", "-test.timeout", limit, readGo},
	{mutants.Integration, "test/integration", ginkgoArguments, "-ginkgo.fail-fast", "-ginkgo.timeout", limit, readGinkgo},
	{mutants.Faults, "test/faults", goArguments, "-test.failfast", "-test.timeout", limit, readGo},
}

// limit is far beyond what the slowest tests that mutants name take.
const limit = 15 * time.Minute

// outcome is what a run of tests came to.
type outcome struct {
	passed []string
	failed []failure
}

// failure is a test that failed, and what it had to say.
type failure struct{ name, complaint string }

// String is the failure in a line.
func (f failure) String() string {
	words := []rune(strings.Join(strings.Fields(f.complaint), " "))
	if len(words) > enoughWords {
		words = append(words[:enoughWords], '…')
	}
	return fmt.Sprintf("%s: %s", f.name, string(words))
}

// enoughWords is how many characters of a complaint tell what it is about.
const enoughWords = 120

// run builds a suite on the bench and runs its tests that match an expression, with a plan for those that
// play plans.
func (s suite) run(ctx context.Context, b *bench, tests, plan string, more ...string) (outcome, error) {
	program, err := b.build(ctx, s.pkg)
	if err != nil {
		return outcome{}, err
	}
	came, err := s.play(ctx, b, program, tests, plan, more...)
	return came, errors.Join(err, os.Remove(program))
}

// play runs those tests of the program that the suite was built to.
func (s suite) play(ctx context.Context, b *bench, program, tests, plan string, more ...string) (outcome, error) {
	results := filepath.Join(b.dir, string(s.name)+".json")
	arguments := append(s.arguments(tests, results), s.timeout+"="+s.limit.String())
	run := command(ctx, program, append(arguments, more...)...)
	run.Dir = filepath.Join(b.dir, s.pkg)
	run.Env = append(os.Environ(), "PLAN="+plan, "MANIFESTS="+filepath.Join(b.dir, manifestFolder))
	out, failed := run.CombinedOutput()
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	if err := os.WriteFile(filepath.Join(b.dir, string(s.name)+".txt"), out, 0o644); err != nil {
		return outcome{}, err
	}
	came, err := s.read(ctx, out, results)
	if err == nil && failed != nil && len(came.failed) == 0 {
		err = fmt.Errorf("the tests ended by themselves: %w: %s", failed, lastWords(out))
	}
	return came, err
}

// readGinkgo reads Ginkgo's report. A failure before or after all specs counts as a test of its name.
func readGinkgo(_ context.Context, out []byte, results string) (outcome, error) {
	var came outcome
	text, err := os.ReadFile(results)
	if err != nil {
		return came, fmt.Errorf("the suite left no report: %s", lastWords(out))
	}
	var reports []types.Report
	if err := json.Unmarshal(text, &reports); err != nil {
		return came, err
	}
	for _, report := range reports {
		for _, spec := range report.SpecReports {
			name := spec.FullText()
			if name == "" {
				name = spec.LeafNodeType.String()
			}
			switch {
			case spec.State.Is(types.SpecStateFailureStates):
				came.failed = append(came.failed, failure{name, spec.Failure.Message})
			case spec.State.Is(types.SpecStatePassed) && spec.LeafNodeType.Is(types.NodeTypeIt):
				came.passed = append(came.passed, name)
			}
		}
	}
	return came, nil
}

// readGo reads what `go test` would, of tests that were run with -test.v=test2json. A test whose
// subtests failed is left out: it says nothing of its own.
func readGo(ctx context.Context, out []byte, _ string) (outcome, error) {
	convert := command(ctx, "go", "tool", "test2json")
	convert.Stdin = bytes.NewReader(out)
	converted, err := convert.Output()
	if err != nil {
		return outcome{}, fmt.Errorf("go tool test2json: %w", err)
	}
	var came outcome
	said := map[string]string{}
	events := json.NewDecoder(bytes.NewReader(converted))
	for {
		var event struct{ Action, Test, Output string }
		if err := events.Decode(&event); errors.Is(err, io.EOF) {
			return came, nil
		} else if err != nil {
			return came, err
		}
		switch {
		case event.Test == "":
		case event.Action == "output" && !isFrame(event.Output):
			said[event.Test] += event.Output
		case event.Action == "pass":
			came.passed = append(came.passed, event.Test)
		case event.Action == "fail" && !hasFailedWithin(came, event.Test):
			came.failed = append(came.failed, failure{event.Test, said[event.Test]})
		}
	}
}

// isFrame tells the lines that tell of a test's course from those that it writes itself.
func isFrame(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ")
}

// hasFailedWithin tells whether a part of a test has failed.
func hasFailedWithin(came outcome, test string) bool {
	for _, f := range came.failed {
		if strings.HasPrefix(f.name, test+"/") {
			return true
		}
	}
	return false
}

// lastWords are those of a panic, if there was one, and else the last line.
func lastWords(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") {
			return line
		}
	}
	return lines[len(lines)-1]
}
