package results

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Cause is a group of failures that look alike: the same oracles object to the same objects, whatever the scenario and
// the fault. One bug often fails a hundred plans.
type Cause struct {
	// Symptom says in one sentence what is wrong.
	Symptom string
	// Severity is the worst of its plans', and severities are all of them.
	Severity   Severity
	severities []Severity
	// Oracles are those that object.
	Oracles []string
	// Confirmation is how often the example came again; nil if none was run again.
	Confirmation *Confirmation
	// Unconfirmed tells that the exploration has not come to run an example again.
	Unconfirmed bool
	// Plans are indices of the plans. The first one is the shortest example.
	Plans []int
	// Places are where the faults were, most failures first.
	Places []Place
}

// Place is a request with the types of the faults that made plans fail there.
type Place struct {
	Request string
	Types   []string
	Plans   []int
}

// Causes groups the failed plans: those that come again first, then the worst, then the largest group.
func Causes(plans []Plan) []Cause {
	var all []*Cause
	bySymptom := map[string]*Cause{}
	for i, p := range plans {
		if p.Passed {
			continue
		}
		symptom := p.symptom()
		c := bySymptom[symptom]
		if c == nil {
			c = &Cause{Symptom: symptom}
			bySymptom[symptom] = c
			all = append(all, c)
		}
		c.Plans = append(c.Plans, i)
		for _, finding := range p.Findings {
			if !slices.Contains(c.Oracles, finding.Oracle) {
				c.Oracles = append(c.Oracles, finding.Oracle)
				c.severities = append(c.severities, finding.severity())
			}
		}
		if c.Severity == "" || p.Severity().worse(c.Severity) {
			c.Severity = p.Severity()
		}
		if p.Confirmation.compare(c.Confirmation) < 0 {
			c.Confirmation = p.Confirmation
		}
		c.add(p, i)
	}
	slices.SortStableFunc(all, (*Cause).compare)
	var causes []Cause
	for _, c := range all {
		slices.SortStableFunc(c.Plans, func(a, b int) int { return plans[a].compareAsExample(plans[b]) })
		slices.SortStableFunc(c.Places, func(a, b Place) int { return cmp.Compare(len(b.Plans), len(a.Plans)) })
		causes = append(causes, *c)
	}
	return causes
}

// Causes are those of the failed plans. While an exploration goes on, or if it was interrupted, those that are not confirmed come
// after those that are.
func (e Exploration) Causes() []Cause {
	causes := Causes(e.Plans)
	if !e.Interrupted {
		return causes
	}
	for i := range causes {
		causes[i].Unconfirmed = causes[i].Confirmation == nil
	}
	slices.SortStableFunc(causes, func(a, b Cause) int { return cmp.Compare(a.doubt(), b.doubt()) })
	return causes
}

// doubt is the greater the less is known of whether the fault is to blame.
func (c Cause) doubt() int { return slices.Index([]string{unconfirmed, unstable}, c.Standing()) }

// What a cause is called that may not be the fault's doing.
const (
	unstable    = "unstable"
	unconfirmed = "unconfirmed"
)

// Standing is the severity, or why it is not known to be one.
func (c Cause) Standing() string {
	switch {
	case c.Confirmation.Unstable():
		return unstable
	case c.Unconfirmed:
		return unconfirmed
	}
	return string(c.Severity)
}

// IsDoubtful tells whether it is not known that the fault is to blame.
func (c Cause) IsDoubtful() bool { return c.Standing() != string(c.Severity) }

// compare sorts causes.
func (c *Cause) compare(other *Cause) int {
	rank := func(c *Cause) int {
		if c.Confirmation.Unstable() {
			return len(Severities)
		}
		return slices.Index(Severities, c.Severity)
	}
	return cmp.Or(cmp.Compare(rank(c), rank(other)), cmp.Compare(len(other.Plans), len(c.Plans)))
}

// compareAsExample sorts the plans of a cause, the best example first: one that came again, whose fault triggered, which has
// one fault, and whose timeline is short.
func (p Plan) compareAsExample(other Plan) int {
	no := func(yes bool) int {
		if yes {
			return 0
		}
		return 1
	}
	return cmp.Or(p.Confirmation.compare(other.Confirmation), no(p.Triggered)-no(other.Triggered), no(p.Then == "")-no(other.Then == ""), cmp.Compare(p.effort(), other.effort()))
}

// effort is how much there is to read in a plan's timeline; a plan without one comes last.
func (p Plan) effort() int {
	if p.Run == nil {
		return math.MaxInt
	}
	return len(p.Run.Requests) + len(p.Run.Versions) + 100*len(p.Run.Steps)
}

func (c *Cause) add(p Plan, index int) {
	request := p.request()
	i := slices.IndexFunc(c.Places, func(place Place) bool { return place.Request == request })
	if i < 0 {
		i = len(c.Places)
		c.Places = append(c.Places, Place{Request: request})
	}
	place := &c.Places[i]
	place.Plans = append(place.Plans, index)
	if !slices.Contains(place.Types, p.Types()) {
		place.Types = append(place.Types, p.Types())
	}
}

// request is the verb, the resource and the name of the request at which the fault applies.
func (p Plan) request() string {
	words := strings.Fields(p.At)
	if len(words) < 3 {
		return "any request"
	}
	if words[2] == "-" {
		words = words[:2]
	}
	return strings.Join(words[:min(len(words), 3)], " ")
}

// tellingOracles are the oracles in the order in which they explain a failure: a panic names the line of the code, and one that
// names an action of the operator says more than one that only sees the end of it.
var tellingOracles = []string{panics, "invariants", "bounded-retries", "counts", "reference", "stable", "converges", "late"}

// symptom is what is wrong, in the words of the oracle that explains most.
func (p Plan) symptom() string {
	if len(p.Findings) == 0 {
		return "no finding"
	}
	telling := slices.MinFunc(p.Findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(tellingOracles, a.Oracle), slices.Index(tellingOracles, b.Oracle))
	})
	switch telling.Oracle {
	case panics:
		return "panic " + panicSymptom(telling.Message)
	case "counts":
		return countSymptom(telling.Message)
	case "reference":
		return referenceSymptom(telling.Message)
	case "converges":
		step, _, _ := strings.Cut(generalized(telling.Message), ": ")
		return "never reached: " + step
	}
	return generalized(telling.Message)
}

var (
	countLine  = regexp.MustCompile(`^(created|deleted) (.*) \d+ times, not \d+ as in the reference$`)
	objectLine = regexp.MustCompile(`^(\+\+\+|[-+]) (?:got )?(\S+)/(\S+?)(?: #\d+)?(?: is (missing|too many)| \(differs in (.+)\))?$`)
	// hashOf ends a name by a hash in the letters that Kubernetes writes them with, and the number of a revision.
	hashOf   = regexp.MustCompile(`-[4-9bcdf]{8,10}(-\d+)?$`)
	variable = regexp.MustCompile(`\brun-[a-z0-9]{5}\b|\d+(\.\d+)?(ms|s|m)\b`)
)

// generalized is the first line of a message without what differs between runs.
func generalized(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return variable.ReplaceAllStringFunc(first, func(found string) string {
		if strings.HasPrefix(found, "run-") {
			return "<namespace>"
		}
		return "…"
	})
}

func countSymptom(message string) string {
	var parts []string
	for one := range strings.SplitSeq(message, "; ") {
		if found := countLine.FindStringSubmatch(one); found != nil {
			parts = append(parts, found[2]+" "+found[1]+" too often")
		} else {
			parts = append(parts, generalized(one))
		}
	}
	return strings.Join(parts, "; ")
}

// referenceSymptom says of each object how it differs. Of a single object it says which fields do, because different bugs change
// different ones.
func referenceSymptom(message string) string {
	how, fields := map[string][]string{}, map[string]string{}
	var objects []string
	for line := range strings.Lines(message) {
		found := objectLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if found == nil || found[1] != "+++" && found[4] == "" {
			continue
		}
		kind, _, _ := strings.Cut(found[2], ".")
		name, state := found[3], "different"
		switch found[4] {
		case "missing":
			state = "missing"
		case "too many": // of one bug, as many as there were tries, each with another hash or number
			name, state = hashOf.ReplaceAllString(name, "-*"), "left over"
		}
		object := kind + " " + name
		fields[object] = found[5]
		if how[object] == nil {
			objects = append(objects, object)
		}
		how[object] = append(how[object], state)
	}
	if len(objects) == 0 {
		return generalized(message)
	}
	if own := slices.DeleteFunc(slices.Clone(objects), isDerived); len(own) > 0 {
		objects = own
	}
	byState := map[string][]string{}
	var states []string
	for _, object := range objects {
		state := stateOf(how[object])
		if byState[state] == nil {
			states = append(states, state)
		}
		byState[state] = append(byState[state], object)
	}
	var parts []string
	for _, state := range states {
		parts = append(parts, strings.Join(byState[state], ", ")+" "+state)
	}
	symptom := strings.Join(parts, "; ") + " in the end"
	if only := objects[0]; len(objects) == 1 && states[0] == "different" && fields[only] != "" {
		symptom += ": " + fields[only]
	}
	return symptom
}

// stateOf sums up how the objects of one name differ, which are numbered: what is too many beside others exists too often.
func stateOf(states []string) string {
	isOther := func(state string) bool { return state != states[0] }
	switch {
	case !slices.ContainsFunc(states, isOther):
		return states[0]
	case slices.Contains(states, "left over"):
		return "duplicated"
	default:
		return "missing" // and the others differ
	}
}

// isDerived tells whether a controller of Kubernetes makes an object from others, which explain more.
func isDerived(object string) bool {
	return strings.HasPrefix(object, "Pod ") || strings.HasPrefix(object, "ReplicaSet ")
}
