package explore

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/diff"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/report/results"
)

// What a timeline keeps is bounded: one of a hot loop would have thousands of requests.
const (
	// keptAlike is how many requests of one verb, object and status are kept.
	keptAlike = 40
	// keptVersions is how many versions of objects are kept.
	keptVersions = 400
	// keptFields and keptValue are how many changed fields of a version, and how many characters of a value, are kept.
	keptFields = 6
	keptValue  = 48
	// linesBefore and linesAfter are how many lines of the log are kept before and after the fault.
	linesBefore, linesAfter = 20, 60
	keptLine                = 400
)

// diary collects what a run does, other than its requests and its objects' versions, which are recorded anyway.
type diary struct {
	mu        sync.Mutex
	steps     []entry
	instances []entry
}

// entry is a step, or an instance of the operator.
type entry struct {
	name     string
	from, to time.Time
	isAction bool
	failed   error
	end      string // of an instance
}

// step runs a step and notes it.
func (d *diary) step(name string, isAction bool, do func() error) error {
	e := entry{name: name, isAction: isAction, from: time.Now()}
	e.failed = do()
	e.to = time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.steps = append(d.steps, e)
	return e.failed
}

// instance notes that an instance has started, and returns what notes its end.
func (d *diary) instance() (ended func(how string)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := len(d.instances)
	d.instances = append(d.instances, entry{from: time.Now(), end: results.Stopped})
	return func(how string) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.instances[i].to, d.instances[i].end = time.Now(), how
	}
}

// timeline is what happened in a run that has ended, without what must not be shown.
func (r *run) timeline(history []record.ObjectVersion, hide redactor) *results.Run {
	r.diary.mu.Lock()
	defer r.diary.mu.Unlock()
	start, end := r.started, r.started.Add(r.duration)
	if first := slices.IndexFunc(r.diary.steps, func(e entry) bool { return e.isAction }); first >= 0 {
		start = r.diary.steps[first].from
	}
	at := func(t time.Time) float64 {
		if t.IsZero() {
			t = end
		}
		return millis(t.Sub(start))
	}
	timeline := &results.Run{Start: start.UTC(), Ended: at(end)}
	switch triggers := r.injector.Triggers(); len(triggers) {
	case 2:
		timeline.Second = new(at(triggers[1].Time))
		fallthrough
	case 1:
		timeline.Triggered = new(at(triggers[0].Time))
	}
	for _, e := range r.diary.steps {
		step := results.Step{Name: e.name, From: at(e.from), To: at(e.to), IsAction: e.isAction}
		if e.failed != nil {
			step.Failed = hide.text(e.failed.Error())
		}
		timeline.Steps = append(timeline.Steps, step)
	}
	for _, e := range r.diary.instances {
		if e.end == results.Stopped {
			e.to = end // it stops when the run has ended
		}
		timeline.Instances = append(timeline.Instances, results.Instance{From: at(e.from), To: at(e.to), End: e.end})
	}
	for _, w := range r.injector.Withheld() {
		timeline.Withheld = append(timeline.Withheld, results.Withheld{Target: w.Target, IsWrite: w.IsWrite, From: at(w.From), To: at(w.To)})
	}
	timeline.Requests, timeline.Omitted = requestsOf(r.injector.Requests.Requests(), end, at, hide)
	timeline.Versions = versionsOf(history, at, hide)
	timeline.Log = r.log.around(r.injector.TriggeredAt(), at, hide)
	return timeline
}

// millis has microseconds.
func millis(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e3 }

// requestsOf leaves out what the end of the run has cut off.
func requestsOf(all record.Requests, end time.Time, at func(time.Time) float64, hide redactor) (kept []results.Request, omitted int) {
	type likeness struct {
		verb, target, name string
		status             int
	}
	alike := map[likeness]int{}
	for _, q := range all {
		if q.Time.After(end) || q.Status == 0 && (!q.Answered || q.Time.Add(q.Duration).After(end)) {
			continue
		}
		like := likeness{q.Verb, q.Target(), q.Name, q.Status}
		if alike[like]++; alike[like] > keptAlike {
			omitted++
			continue
		}
		kept = append(kept, results.Request{At: at(q.Time), Took: millis(q.Duration), Verb: q.Verb, Target: q.Target(), Name: q.Name, Status: q.Status, Message: hide.text(q.Message)})
	}
	return kept, omitted
}

func versionsOf(history []record.ObjectVersion, at func(time.Time) float64, hide redactor) []results.Version {
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

// isOfEveryNamespace tells whether Kubernetes creates such an object in every namespace.
func isOfEveryNamespace(version record.ObjectVersion) bool {
	return version.GetKind() == "ConfigMap" && version.GetName() == "kube-root-ca.crt" ||
		version.GetKind() == "ServiceAccount" && version.GetName() == "default"
}

// changedFields describes what has changed, other than what changes with every version.
func changedFields(was, is record.ObjectVersion, hide redactor) []string {
	var fields []string
	more := 0
	for _, f := range (diff.Comparison{}).Fields("", was.Object, is.Object) {
		switch {
		case f.Path == "metadata.resourceVersion" || f.Path == "metadata.generation" || strings.HasPrefix(f.Path, "metadata.managedFields"):
		case len(fields) == keptFields:
			more++
		case is.GetKind() == secretKind:
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

// abbreviated is a JSON value in few characters, without what must not be shown: part of a secret must not be, either.
func abbreviated(value any, hide redactor) string {
	if value == diff.Absent {
		return "none"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return record.Shortened(hide.text(string(text)), keptValue)
}

// log is the log of all instances of an operator.
type log struct {
	mu    sync.Mutex
	lines []logLine
	open  bool // the last line has no end yet
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

// text returns all lines.
func (l *log) text() string { return l.tail(math.MaxInt) }

// tail returns the last lines.
func (l *log) tail(lines int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var text strings.Builder
	for _, line := range l.lines[max(0, len(l.lines)-lines):] {
		text.WriteString(line.text)
	}
	return strings.TrimSpace(text.String())
}

// around returns the lines around a moment, or the last ones if it is the zero time.
func (l *log) around(moment time.Time, at func(time.Time) float64, hide redactor) []results.LogLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := len(l.lines) - linesAfter
	if !moment.IsZero() {
		after := slices.IndexFunc(l.lines, func(line logLine) bool { return line.at.After(moment) })
		if after < 0 {
			after = len(l.lines)
		}
		first = after - linesBefore
	}
	var lines []results.LogLine
	first = max(0, first)
	for _, line := range l.lines[first:min(len(l.lines), first+linesBefore+linesAfter)] {
		lines = append(lines, results.LogLine{At: at(line.at), Text: record.Shortened(hide.text(strings.TrimRight(line.text, "\r\n")), keptLine)})
	}
	return lines
}
