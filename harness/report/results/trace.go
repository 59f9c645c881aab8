package results

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
)

// traceEvent is an event of Chrome's trace event format, which Perfetto opens. Times are microseconds.
type traceEvent struct {
	Name     string         `json:"name"`
	Phase    string         `json:"ph"`
	Time     float64        `json:"ts"`
	Duration float64        `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Scope    string         `json:"s,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
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
	p := &traceProcess{id: process, start: float64(r.Start.UnixMicro() - origin)}
	p.add(traceEvent{Name: "process_name", Phase: "M", Args: map[string]any{"name": name}})
	var steps, instances, writes, reads, withheld []span
	for _, s := range r.Steps {
		step := span{name: s.Name, from: s.From, to: s.To}
		if s.Failed != "" {
			step.args = map[string]any{"failed": s.Failed}
		}
		steps = append(steps, step)
	}
	for _, i := range r.Instances {
		instances = append(instances, span{name: "instance, " + i.End, from: i.From, to: i.To})
	}
	for _, q := range r.Requests {
		request := span{strings.TrimSpace(q.Verb + " " + q.Target + " " + q.Name), q.At, q.At + q.Took, map[string]any{"status": q.Status}}
		if q.Message != "" {
			request.args["message"] = q.Message
		}
		if q.IsWrite() {
			writes = append(writes, request)
		} else {
			reads = append(reads, request)
		}
	}
	for _, w := range r.Withheld {
		withheld = append(withheld, span{name: w.String(), from: w.From, to: w.To})
	}
	p.spans("scenario", steps)
	for _, triggered := range []*float64{r.Triggered, r.Second} {
		if triggered != nil {
			p.add(traceEvent{Name: "fault", Phase: "i", Scope: "p", Time: p.at(*triggered), Thread: p.threads})
		}
	}
	p.spans("operator", instances)
	p.spans("writes", writes)
	p.spans("reads", reads)
	p.spans("withheld", withheld)
	objects := p.thread("objects")
	for _, v := range r.Versions {
		p.instant(objects, v.Kind+" "+v.Name+" "+v.Change, v.At, map[string]any{"fields": v.Fields})
	}
	log := p.thread("log")
	for _, line := range r.Log {
		p.instant(log, line.Text, line.At, nil)
	}
	return p.events
}

// traceProcess collects the events of a run. Times are milliseconds since start.
type traceProcess struct {
	id      int
	start   float64 // in microseconds
	threads int
	events  []traceEvent
}

// span is what takes time.
type span struct {
	name     string
	from, to float64
	args     map[string]any
}

func (p *traceProcess) at(ms float64) float64 { return p.start + ms*1000 }

func (p *traceProcess) add(e traceEvent) {
	e.Process = p.id
	p.events = append(p.events, e)
}

// thread adds a thread below the others.
func (p *traceProcess) thread(name string) int {
	p.threads++
	p.add(traceEvent{Name: "thread_name", Phase: "M", Thread: p.threads, Args: map[string]any{"name": name}})
	p.add(traceEvent{Name: "thread_sort_index", Phase: "M", Thread: p.threads, Args: map[string]any{"sort_index": p.threads}})
	return p.threads
}

// spans adds spans to as many threads as are needed so that none overlaps another in its thread: Perfetto drops those that do.
func (p *traceProcess) spans(name string, all []span) {
	var threads []int
	var ends []float64 // of the last span of each thread
	for _, s := range slices.SortedStableFunc(slices.Values(all), func(a, b span) int { return cmp.Compare(a.from, b.from) }) {
		s.to = max(s.to, s.from+minSpan)
		i := slices.IndexFunc(ends, func(end float64) bool { return end <= s.from })
		if i < 0 {
			i = len(ends)
			threads, ends = append(threads, p.thread(name)), append(ends, 0)
		}
		ends[i] = s.to
		p.add(traceEvent{Name: s.name, Phase: "X", Time: p.at(s.from), Duration: (s.to - s.from) * 1000, Thread: threads[i], Args: s.args})
	}
}

// minSpan is how long a span is drawn at least, in milliseconds.
const minSpan = 0.001

func (p *traceProcess) instant(thread int, name string, at float64, args map[string]any) {
	p.add(traceEvent{Name: name, Phase: "i", Scope: "t", Time: p.at(at), Thread: thread, Args: args})
}
