package explore

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/diff"
	"github.com/operator-assay/assay/harness/explore/redact"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/results"
)

// Limits for the contents of a timeline. A hot loop would otherwise add thousands of requests.
const (
	keptAlike               = 40 // requests with the same verb, object and status
	keptVersions            = 400
	keptFields              = 6  // changed fields of a version
	keptValue               = 48 // characters
	linesBefore, linesAfter = 20, 60
	keptLine                = 400 // characters
)

// timeline records the steps and operator instances of a run. Requests and object versions are recorded elsewhere.
type timeline struct {
	start, end time.Time
	mu         sync.Mutex
	steps      []entry
	instances  []entry
}

type entry struct {
	name     string
	from, to time.Time
	isAction bool
	failed   error
	end      string // how an instance ended
}

func (t *timeline) step(name string, isAction bool, do func() error) error {
	e := entry{name: name, isAction: isAction, from: time.Now()}
	e.failed = do()
	e.to = time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps = append(t.steps, e)
	return e.failed
}

func (t *timeline) instance() (ended func(how string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := len(t.instances)
	t.instances = append(t.instances, entry{from: time.Now(), end: results.Stopped})
	return func(how string) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.instances[i].to, t.instances[i].end = time.Now(), how
	}
}

// report returns the redacted timeline of a finished run.
func (r *recording) report(hide redact.Redactor) *results.Run {
	r.timeline.mu.Lock()
	defer r.timeline.mu.Unlock()
	start, end := r.timeline.start, r.timeline.end
	if first := slices.IndexFunc(r.timeline.steps, func(e entry) bool { return e.isAction }); first >= 0 {
		start = r.timeline.steps[first].from
	}
	at := func(t time.Time) float64 {
		if t.IsZero() {
			t = end
		}
		return millis(t.Sub(start))
	}
	run := &results.Run{Start: start.UTC(), Ended: at(end)}
	switch triggers := r.injector.Triggers(); len(triggers) {
	case 2:
		run.Second = new(at(triggers[1].Time))
		fallthrough
	case 1:
		run.Triggered = new(at(triggers[0].Time))
	}
	for _, e := range r.timeline.steps {
		step := results.Step{Name: e.name, From: at(e.from), To: at(e.to), IsAction: e.isAction}
		if e.failed != nil {
			step.Failed = hide.Text(e.failed.Error())
		}
		run.Steps = append(run.Steps, step)
	}
	for _, e := range r.timeline.instances {
		if e.end == results.Stopped {
			e.to = end // it is stopped at the end of the run
		}
		run.Instances = append(run.Instances, results.Instance{From: at(e.from), To: at(e.to), End: e.end})
	}
	for _, w := range r.injector.Delays() {
		run.Withheld = append(run.Withheld, results.Withheld{Target: w.Target, IsWrite: w.IsWrite, From: at(w.From), To: at(w.To)})
	}
	run.Requests, run.Omitted = requestsOf(r.injector.Requests.Requests(), end, at, hide)
	run.Versions = versionsOf(r.outcome.history, at, hide)
	run.Log = r.log.around(r.injector.TriggeredAt(), at, hide)
	return run
}

// millis returns the duration in milliseconds, rounded to microseconds.
func millis(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e3 }

// requestsOf returns the requests that were sent before the run ended, except those that were still unanswered. It
// limits the number of similar requests, and returns how many it omitted.
func requestsOf(all record.Requests, end time.Time, at func(time.Time) float64, hide redact.Redactor) (kept []results.Request, omitted int) {
	alike := map[results.Request]int{}
	for _, q := range all {
		if q.Time.After(end) || q.Status == 0 && (q.IsInFlight() || q.Ended.After(end)) {
			continue
		}
		request := results.Request{Verb: q.Verb, Target: q.Target(), Name: q.Name, Status: q.Status}
		if alike[request]++; alike[request] > keptAlike {
			omitted++
			continue
		}
		request.At, request.Took, request.Message = at(q.Time), millis(q.Duration()), hide.Text(q.Message)
		kept = append(kept, request)
	}
	return kept, omitted
}

func versionsOf(history []record.ObjectVersion, at func(time.Time) float64, hide redact.Redactor) []results.Version {
	var all []results.Version
	before := map[types.UID]record.ObjectVersion{}
	for _, version := range history {
		if isOfEveryNamespace(version) || len(all) == keptVersions {
			continue
		}
		was, known := before[version.GetUID()]
		before[version.GetUID()] = version
		v := results.Version{At: at(version.Time), Kind: version.GetKind(), Name: version.GetName(), Change: results.Created}
		switch {
		case version.Deleted:
			v.Change = results.Deleted
		case known:
			v.Change, v.Fields = results.Changed, changedFields(was, version, hide)
		}
		all = append(all, v)
	}
	return all
}

// isOfEveryNamespace reports whether Kubernetes creates the object in every namespace.
func isOfEveryNamespace(version record.ObjectVersion) bool {
	return version.GetKind() == "ConfigMap" && version.GetName() == "kube-root-ca.crt" ||
		version.GetKind() == "ServiceAccount" && version.GetName() == "default"
}

// changedFields describes the fields that changed, except for metadata such as the resourceVersion. It does not include
// the values of a Secret.
func changedFields(was, is record.ObjectVersion, hide redact.Redactor) []string {
	var fields []string
	more := 0
	for _, f := range (diff.Comparison{}).Fields("", was.Object, is.Object) {
		switch {
		case f.Path == "metadata.resourceVersion" || f.Path == "metadata.generation" || strings.HasPrefix(f.Path, "metadata.managedFields"):
		case len(fields) == keptFields:
			more++
		case is.GetKind() == "Secret":
			fields = append(fields, f.Path)
		default:
			fields = append(fields, fmt.Sprintf("%s: %s → %s", f.Path, abbreviated(f.From, hide), abbreviated(f.To, hide)))
		}
	}
	if more > 0 {
		fields = append(fields, fmt.Sprintf("%d more", more))
	}
	return fields
}

// abbreviated formats a JSON value. It redacts the value before shortening it, so that no part of a secret remains.
func abbreviated(value any, hide redact.Redactor) string {
	if value == diff.Absent {
		return "none"
	}
	text, _ := json.Marshal(value) // cannot fail for a JSON value
	return record.Shortened(hide.Text(string(text)), keptValue)
}

// log is the combined log of all instances of an operator.
type log struct {
	mu    sync.Mutex
	lines []logLine
	open  bool // true if the last line is incomplete
}

type logLine struct {
	at   time.Time
	text string
}

func (l *log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(string(text)) {
		if l.open {
			l.lines[len(l.lines)-1].text += line
		} else {
			l.lines = append(l.lines, logLine{time.Now(), line})
		}
		l.open = !strings.HasSuffix(line, "\n")
	}
	return len(text), nil
}

func (l *log) text() string { return l.tail(math.MaxInt) }

func (l *log) tail(lines int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var text strings.Builder
	for _, line := range l.lines[max(0, len(l.lines)-lines):] {
		text.WriteString(line.text)
	}
	return strings.TrimSpace(text.String())
}

// around returns the lines logged around the given time, or the last lines if the time is zero.
func (l *log) around(moment time.Time, at func(time.Time) float64, hide redact.Redactor) []results.LogLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := len(l.lines) - linesAfter
	if !moment.IsZero() {
		first = sort.Search(len(l.lines), func(i int) bool { return l.lines[i].at.After(moment) }) - linesBefore
	}
	var lines []results.LogLine
	first = max(0, first)
	for _, line := range l.lines[first:min(len(l.lines), first+linesBefore+linesAfter)] {
		lines = append(lines, results.LogLine{At: at(line.at), Text: record.Shortened(hide.Text(strings.TrimRight(line.text, "\r\n")), keptLine)})
	}
	return lines
}
