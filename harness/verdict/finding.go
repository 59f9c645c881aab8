package verdict

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

// Finding is a violation of an oracle. It implements error.
type Finding struct {
	Oracle Oracle `json:"oracle"`
	// Step is the step of the scenario that failed or was late. Optional.
	Step    string   `json:"step,omitempty"`
	Objects []Object `json:"objects,omitempty"`
	// Detail distinguishes causes that affect the same objects. Examples are the source line of a panic and the
	// violated invariant. Detail does not include the parts that vary between runs.
	Detail  string `json:"detail,omitempty"`
	Message string `json:"message"`
}

func (f Finding) Error() string { return f.Message }

// Object describes a problem with an object, or with several objects of the same name.
type Object struct {
	// Kind is the object's kind without its group, such as Deployment. If the problem concerns requests, Kind is their
	// verb and resource, such as "create deployments.apps".
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`             // contains placeholders for the parts that vary between runs
	Problem string   `json:"problem"`          // such as "missing" or "created too often"
	Fields  []string `json:"fields,omitempty"` // the fields that differ, if any
}

// Values of Object.Problem.
const (
	Missing        = "missing"
	LeftOver       = "left over"
	Different      = "different"
	Duplicated     = "duplicated"
	CreatedTooMuch = "created too often"
	DeletedTooMuch = "deleted too often"
	Repeated       = "repeated in a hot loop"
	NoBackOff      = "repeated without a growing back-off"
	NeverAtRest    = "repeated indefinitely"
	Disagreeing    = "with different values"
	NeverDeleted   = "never deleted"
	NotRecreated   = "not created again"
)

func (o Object) String() string { return o.Kind + " " + o.Name }

// FromDifferences returns a finding for a state that differs from the reference. Its message starts with what.
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

// FromDisagreements returns the finding for fields that contain the same generated value in every reference run but not
// in this run. The finding's message starts with the given text and does not include the values.
func FromDisagreements(what string, broken []oracle.Agreement) Finding {
	found := Finding{Oracle: Agreement, Message: what + ":\n"}
	var paths []string
	for _, agreement := range broken {
		for _, other := range agreement.Others {
			found.Message += fmt.Sprintf("%s and %s do not contain the same value, although they do in every fault-free run\n", agreement.Value, other)
		}
		for _, field := range append([]oracle.Field{agreement.Value}, agreement.Others...) {
			kind, name, _ := strings.Cut(field.Object, "/")
			kind, _, _ = strings.Cut(kind, ".")
			found.add(Object{kind, name, Disagreeing, nil})
			if !slices.Contains(paths, field.Path) {
				paths = append(paths, field.Path)
			}
		}
	}
	found.Detail = strings.Join(paths, ", ")
	return found
}

// add adds an object to the finding. It merges objects with the same kind and name, such as the Pods of a ReplicaSet.
// If their problems differ, add sets the problem to Duplicated if one of them is LeftOver, and to Missing otherwise.
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
	known.Fields = slices.Compact(slices.Sorted(slices.Values(slices.Concat(known.Fields, object.Fields))))
}

// FromPanics returns the finding for operator panics.
func FromPanics(panics []oracle.GoPanic) Finding {
	var lines []string
	for _, p := range panics {
		lines = append(lines, p.String())
	}
	return Finding{Oracle: Panics, Detail: panics[0].Masked(), Message: strings.Join(lines, "\n")}
}

// FromStuckDeletion returns the finding for an object that is never deleted. refused lists the rejected requests.
func FromStuckDeletion(stuck oracle.StuckDeletion, refused []string) Finding {
	object, finalizers := Object{Kind: stuck.Kind, Name: stuck.Name, Problem: NeverDeleted}, strings.Join(stuck.Finalizers, ", ")
	lines := []string{fmt.Sprintf("%s is never deleted: the operator does not remove the finalizer %s", object, finalizers)}
	for _, request := range refused {
		lines = append(lines, "the API server rejects "+request)
	}
	if len(refused) == 0 {
		lines = append(lines, "the operator may depend on another system, but only the API server is available during an exploration")
	}
	return Finding{Oracle: Deletions, Objects: []Object{object}, Detail: finalizers, Message: strings.Join(lines, "\n")}
}

// FromLostChild returns the finding for a deleted child that is not recreated, even though children of other kinds are.
func FromLostChild(kind, name, restored string) Finding {
	message := fmt.Sprintf("the operator does not recreate the deleted %s %s, although it recreates a deleted %s: check that it watches the kind %[1]s", kind, name, restored)
	return Finding{Oracle: Recreates, Objects: []Object{{Kind: kind, Name: name, Problem: NotRecreated}}, Message: message}
}

// FromLoop returns the finding for a hot loop.
func FromLoop(loop oracle.HotLoop) Finding {
	problem := Repeated
	if loop.Refused {
		problem = NoBackOff
	}
	return Finding{Oracle: Retries, Message: loop.Error(), Objects: []Object{{Kind: loop.Verb + " " + loop.Target, Name: loop.Object, Problem: problem}}}
}

// FromUnstable returns a finding for a state that keeps changing after the last step. It lists the repeated writes.
func FromUnstable(message string, repeated record.Requests) Finding {
	found := Finding{Oracle: Stable, Message: message}
	for _, request := range repeated {
		found.Objects = append(found.Objects, Object{Kind: request.Verb + " " + request.Target(), Name: request.Name, Problem: NeverAtRest})
	}
	return found
}

// FromLateStep returns the finding for a step that took longer than the limit.
func FromLateStep(step oracle.TimedStep, limit time.Duration) Finding {
	const precision = time.Second / 10
	return Finding{Oracle: Late, Step: step.Name, Message: fmt.Sprintf("%s took %s, more than %s", step.Name, step.Took.Round(precision), limit.Round(precision))}
}

// FromCounts returns the finding for objects that were created or deleted more often than in the reference.
func FromCounts(excess []oracle.Excess) Finding {
	found := Finding{Oracle: Counts}
	var messages []string
	for _, e := range excess {
		problem := CreatedTooMuch
		if e.Deleted {
			problem = DeletedTooMuch
		}
		found.Objects = append(found.Objects, Object{Kind: e.Target, Name: e.Object, Problem: problem})
		messages = append(messages, e.String())
	}
	found.Message = strings.Join(messages, "; ")
	return found
}

// duration matches durations in the messages of invariants. They are masked, because they vary between runs.
var duration = regexp.MustCompile(`\d+(\.\d+)?(ms|s|m)\b`)

// FromInvariant returns the finding for a violated invariant.
func FromInvariant(err error) Finding {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return Finding{Oracle: Invariants, Detail: duration.ReplaceAllString(first, "…"), Message: err.Error()}
}

// Redact calls replace for all text in the finding. Redact secrets first, because they may contain the run's namespace.
func (f Finding) Redact(replace func(string) string) Finding {
	f.Step, f.Detail, f.Message = replace(f.Step), replace(f.Detail), replace(f.Message)
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
