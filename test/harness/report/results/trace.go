package results

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
)

// traceEvent is an event of Chrome's trace event format, which Perfetto opens. Times are microseconds.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Time     float64        `json:"ts"`
	Duration float64        `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Scope    string         `json:"s,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// The threads of a run's process.
const (
	stepThread = iota + 1
	instanceThread
	writeThread
	readThread
	watchThread
	versionThread
	logThread
)

var threadNames = map[int]string{
	stepThread: "scenario", instanceThread: "operator", writeThread: "writes", readThread: "reads", watchThread: "withheld",
	versionThread: "objects", logThread: "log",
}

// WriteTrace writes the timelines in Chrome's trace event format: a process for each run.
func (e Exploration) WriteTrace(out io.Writer) error {
	events := []traceEvent{}
	process := 0
	add := func(name string, run *Run) {
		if run != nil {
			process++
			events = append(events, run.trace(process, name, e.Started.UnixMicro())...)
		}
	}
	for _, p := range e.Plans {
		name := p.String()
		if !p.Passed {
			name = "✗ " + name
		}
		add(name, p.Run)
	}
	for _, name := range slices.Sorted(maps.Keys(e.References)) {
		add("reference "+name, e.References[name])
	}
	return json.NewEncoder(out).Encode(map[string]any{"displayTimeUnit": "ms", "traceEvents": events})
}

// trace returns the events of a run as those of a process. origin is the trace's first microsecond.
func (r *Run) trace(process int, name string, origin int64) []traceEvent {
	start := float64(r.Start.UnixMicro() - origin)
	events := []traceEvent{{Name: "process_name", Phase: "M", Process: process, Args: map[string]any{"name": name}}}
	for thread := stepThread; thread <= logThread; thread++ {
		events = append(events, traceEvent{Name: "thread_name", Phase: "M", Process: process, Thread: thread, Args: map[string]any{"name": threadNames[thread]}})
	}
	span := func(thread int, name string, from, to float64, args map[string]any) {
		events = append(events, traceEvent{Name: name, Phase: "X", Time: start + from*1000, Duration: max(1, (to-from)*1000), Process: process, Thread: thread, Args: args})
	}
	instant := func(thread int, name string, at float64, args map[string]any) {
		events = append(events, traceEvent{Name: name, Phase: "i", Scope: "t", Time: start + at*1000, Process: process, Thread: thread, Args: args})
	}
	for _, s := range r.Steps {
		args := map[string]any{}
		if s.Failed != "" {
			args["failed"] = s.Failed
		}
		span(stepThread, s.Name, s.From, s.To, args)
	}
	for _, i := range r.Instances {
		span(instanceThread, "instance, "+i.End, i.From, i.To, nil)
	}
	for _, w := range r.Withheld {
		span(watchThread, w.String(), w.From, w.To, nil)
	}
	for _, q := range r.Requests {
		thread := readThread
		if q.IsWrite() {
			thread = writeThread
		}
		span(thread, strings.TrimSpace(q.Verb+" "+q.Target+" "+q.Name), q.At, q.At+q.Took, map[string]any{"status": q.Status})
	}
	for _, v := range r.Versions {
		instant(versionThread, v.Kind+" "+v.Name+" "+v.Change, v.At, map[string]any{"fields": v.Fields})
	}
	for _, line := range r.Log {
		instant(logThread, line.Text, line.At, nil)
	}
	if r.Triggered != nil {
		events = append(events, traceEvent{Name: "fault", Phase: "i", Scope: "p", Time: start + *r.Triggered*1000, Process: process, Thread: stepThread})
	}
	return events
}
