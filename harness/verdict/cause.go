package verdict

import (
	"cmp"
	"slices"
	"strings"
)

// Cause identifies a bug. Failures in different scenarios and under different faults are attributed to the same bug
// if their causes are equal.
type Cause struct {
	Oracle  Oracle
	Step    string
	Objects string // describes the affected objects and their problems
	Detail  string
}

// CauseOf returns the cause of a failure, based on the finding that explains it best.
func CauseOf(findings []Finding) Cause {
	return slices.MinFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Oracle.rank(), b.Oracle.rank()) }).Cause()
}

// Cause returns the cause of a finding. The cause does not depend on the message.
func (f Finding) Cause() Cause {
	objects := f.Objects
	if own := slices.DeleteFunc(slices.Clone(objects), Object.isDerived); f.Oracle == Reference && len(own) > 0 {
		objects = own
	}
	cause := Cause{f.Oracle, f.Step, inWords(objects, f.Oracle == Reference), f.Detail}
	// Differences in other fields of the same object are attributed to a different bug.
	if len(objects) == 1 && objects[0].Problem == Different {
		cause.Detail = strings.Join(objects[0].Fields, ", ")
	}
	return cause
}

// isDerived reports whether the object usually has an owner that identifies the cause better, such as a Deployment.
func (o Object) isDerived() bool { return o.Kind == "Pod" || o.Kind == "ReplicaSet" }

// inWords describes the objects, grouped by problem. If isFinal is true, it describes a final state, for example
// "ConfigMap a ends up missing; Web b, Web c end up left over".
func inWords(objects []Object, isFinal bool) string {
	byProblem := map[string][]string{}
	var problems []string
	for _, o := range objects {
		if byProblem[o.Problem] == nil {
			problems = append(problems, o.Problem)
		}
		byProblem[o.Problem] = append(byProblem[o.Problem], o.String())
	}
	var parts []string
	for _, problem := range problems {
		verb := " "
		switch {
		case isFinal && len(byProblem[problem]) == 1:
			verb = " ends up "
		case isFinal:
			verb = " end up "
		}
		parts = append(parts, strings.Join(byProblem[problem], ", ")+verb+problem)
	}
	return strings.Join(parts, "; ")
}

// Symptom describes the failure in one sentence.
func (c Cause) Symptom() string {
	switch c.Oracle {
	case Panics:
		return "panic " + c.Detail
	case Reference:
		symptom := cmp.Or(c.Objects, "the final state differs")
		if c.Detail != "" {
			symptom += ": " + c.Detail
		}
		return symptom
	case Converges:
		return "never reached: " + c.Step
	case Late:
		return c.Step + " took too long"
	case Stable:
		return cmp.Or(c.Objects, "the state never stabilizes")
	}
	return cmp.Or(c.Objects, c.Detail)
}
