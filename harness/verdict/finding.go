package verdict

import (
	"regexp"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

// Finding is what an oracle objects to. It is also an error, so that functions that look for one return it as such.
type Finding struct {
	Oracle Oracle `json:"oracle"`
	// Step is the step of the scenario that failed or was late, if it is known.
	Step string `json:"step,omitempty"`
	// Objects are what the oracle objects to.
	Objects []Object `json:"objects,omitempty"`
	// Detail is what else tells causes apart, without anything that differs from run to run: where the code panicked, or which
	// invariant is broken.
	Detail string `json:"detail,omitempty"`
	// Message is for people.
	Message string `json:"message"`
}

// Error returns the message.
func (f Finding) Error() string { return f.Message }

// Object is an object, or the objects of one name, and what is wrong with it.
type Object struct {
	// Kind is a kind without its group, or a resource.
	Kind string `json:"kind"`
	// Name has placeholders for what differs from run to run.
	Name string `json:"name"`
	// Problem is what is wrong, such as "missing" or "created too often".
	Problem string `json:"problem"`
	// Fields are the fields that differ, if the object has any.
	Fields []string `json:"fields,omitempty"`
}

// The problems of objects.
const (
	Missing        = "missing"
	LeftOver       = "left over"
	Different      = "different"
	Duplicated     = "duplicated"
	CreatedTooMuch = "created too often"
	DeletedTooMuch = "deleted too often"
	Repeated       = "repeated in a hot loop"
	NoBackOff      = "repeated without a growing back-off"
	NeverAtRest    = "repeated without an end"
)

func (o Object) String() string { return o.Kind + " " + o.Name }

// FromDifferences returns the finding that a state differs from the reference. what begins its message.
func FromDifferences(what string, differences []oracle.Difference) Finding {
	found := Finding{Oracle: Reference, Message: what + ":\n"}
	for _, d := range differences {
		found.Message += d.Text
		problem := Different
		switch {
		case !d.InGot:
			problem = Missing
		case !d.InWant:
			problem = LeftOver
		}
		found.add(Object{d.Kind, d.Name, problem, d.Fields})
	}
	return found
}

// add adds an object, or merges it with the one of the same name. Objects of one name are numbered in a snapshot: if some are left
// over and others are missing or different, there are too many of them.
func (f *Finding) add(object Object) {
	i := slices.IndexFunc(f.Objects, func(o Object) bool { return o.String() == object.String() })
	if i < 0 {
		f.Objects = append(f.Objects, object)
		return
	}
	known := &f.Objects[i]
	switch {
	case known.Problem == object.Problem:
	case known.Problem == LeftOver || known.Problem == Duplicated || object.Problem == LeftOver:
		known.Problem = Duplicated
	default:
		known.Problem = Missing
	}
	known.Fields = object.Fields
}

// FromPanics returns the finding that the operator's code panicked.
func FromPanics(panics []oracle.GoPanic) Finding {
	var lines []string
	for _, p := range panics {
		lines = append(lines, p.String())
	}
	return Finding{Oracle: Panics, Detail: panics[0].Masked(), Message: strings.Join(lines, "\n")}
}

// FromLoop returns the finding that a request was repeated in a hot loop.
func FromLoop(loop oracle.HotLoop) Finding {
	problem := Repeated
	if loop.Refused {
		problem = NoBackOff
	}
	return Finding{Oracle: Retries, Message: loop.Error(), Objects: []Object{{Kind: loop.Verb + " " + loop.Target, Name: loop.Object, Problem: problem}}}
}

// FromRequests returns the finding that something still changes after the last step. requests are those that were sent since then; the
// writes that were sent more than once are to blame.
func FromRequests(message string, requests record.Requests) Finding {
	found := Finding{Oracle: Stable, Message: message}
	seen := map[string]bool{}
	for _, request := range requests.Filter(record.Request.IsWrite) {
		object := Object{Kind: request.Verb + " " + request.Target(), Name: request.Name, Problem: NeverAtRest}
		again, known := seen[object.String()]
		if seen[object.String()] = known; known && !again {
			found.Objects = append(found.Objects, object)
		}
	}
	slices.SortFunc(found.Objects, func(a, b Object) int { return strings.Compare(a.String(), b.String()) })
	return found
}

// duration is what differs from run to run in the message of an invariant.
var duration = regexp.MustCompile(`\d+(\.\d+)?(ms|s|m)\b`)

// FromInvariant returns the finding that an invariant did not hold.
func FromInvariant(err error) Finding {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return Finding{Oracle: Invariants, Detail: duration.ReplaceAllString(first, "…"), Message: err.Error()}
}

// Redact replaces all texts of the finding, such as those that hold a secret.
func (f Finding) Redact(replace func(string) string) Finding {
	f = f.Generalize(replace)
	f.Message = replace(f.Message)
	return f
}

// Generalize replaces the texts of the finding that belong to its cause, such as the run's namespace in them.
func (f Finding) Generalize(replace func(string) string) Finding {
	f.Step, f.Detail = replace(f.Step), replace(f.Detail)
	f.Objects = slices.Clone(f.Objects)
	for i := range f.Objects {
		o := &f.Objects[i]
		o.Name, o.Fields = replace(o.Name), slices.Clone(o.Fields)
		for j := range o.Fields {
			o.Fields[j] = replace(o.Fields[j])
		}
	}
	return f
}
