package results

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// traceOf is a trace as another program reads it.
func traceOf(t *testing.T, e Exploration) []traceEvent {
	t.Helper()
	var text bytes.Buffer
	if err := e.WriteTrace(&text); err != nil {
		t.Fatal(err)
	}
	var trace struct{ TraceEvents []traceEvent }
	if err := json.NewDecoder(&text).Decode(&trace); err != nil {
		t.Fatal(err)
	}
	return trace.TraceEvents
}

func TestATraceHasAProcessForEachRun(t *testing.T) {
	var processes, threads []string
	for _, e := range traceOf(t, exploration()) {
		switch e.Name {
		case "process_name":
			processes = append(processes, e.Args["name"].(string))
		case "thread_name":
			if e.Process == 1 {
				threads = append(threads, e.Args["name"].(string))
			}
		case "create configmaps":
			if e.Phase != "X" || e.Time != 1_006_000 || e.Duration != 1000 {
				t.Errorf("the request is %+v", e)
			}
		}
	}
	if want := []string{"✗ greeter/create crash-after create configmaps - 1", "reference greeter/create"}; !slices.Equal(processes, want) {
		t.Errorf("the processes are %q", processes)
	}
	if want := []string{"scenario", "operator", "writes", "withheld", "objects", "log"}; !slices.Equal(threads, want) {
		t.Errorf("the threads are %q", threads)
	}
}

func TestATraceHasTheMessageOfAnError(t *testing.T) {
	run := &Run{Requests: []Request{{Verb: "create", Target: "services", Status: 422, Message: "port is taken"}, {Verb: "get", Target: "services", Status: 200}}}
	e := Exploration{Plans: []Plan{{Scenario: "a", Type: "stale", Run: run}}}
	for _, e := range traceOf(t, e) {
		if message, has := e.Args["message"]; has != (e.Name == "create services") || has && message != "port is taken" {
			t.Errorf("%+v", e)
		}
	}
	if text := run.Requests[0].String(); text != "create services, 422, 0.0 ms: port is taken" {
		t.Errorf("got %s", text)
	}
}

// Perfetto drops a span that overlaps another of its thread, and an event of a phase that it does not know.
func TestATraceKeepsTheRulesOfItsFormat(t *testing.T) {
	e := exploration()
	run := *e.Plans[1].Run
	run.Requests = []Request{ // as they were answered
		{At: 2, Took: 1, Verb: "get", Target: "pods"}, {At: 0, Took: 9, Verb: "list", Target: "pods"}, {At: 3, Verb: "get", Target: "pods"},
		{At: 3, Took: 8, Verb: "get", Target: "pods"},
	}
	run.Withheld = []Withheld{{Target: "pods", To: 5}, {Target: "nodes", From: 1, To: 6}}
	e.Plans[1].Run = &run
	type thread struct{ process, id int }
	named, ends, spans := map[thread]bool{}, map[thread]float64{}, 0
	for _, e := range traceOf(t, e) {
		key := thread{e.Process, e.Thread}
		if e.Process < 1 || e.Time < 0 || e.Duration < 0 || e.Name == "" {
			t.Errorf("%+v is no event", e)
		}
		switch e.Phase {
		case "M":
			if e.Name == "thread_name" {
				named[key] = true
			}
			continue
		case "i":
			if e.Scope != "t" && e.Scope != "p" {
				t.Errorf("%+v has no scope", e)
			}
		case "X":
			if spans++; e.Duration == 0 || e.Time < ends[key] {
				t.Errorf("%+v overlaps another, which ends at %g", e, ends[key])
			}
			ends[key] = e.Time + e.Duration
		default:
			t.Errorf("%+v has an unknown phase", e)
		}
		if !named[key] {
			t.Errorf("%+v is in a thread without a name", e)
		}
	}
	if want := 8 + 4; spans != want { // of the plan, and of the reference
		t.Errorf("there are %d spans, not %d", spans, want)
	}
}
