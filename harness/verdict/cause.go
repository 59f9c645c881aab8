package verdict

import (
	"cmp"
	"slices"
	"strings"
)

// Cause identifies a bug: failures with the same cause have the same key, whatever their scenarios and faults.
type Cause struct {
	Oracle Oracle
	Step   string
	// Objects are the objects with their problems, in words.
	Objects string
	Detail  string
}

// CauseOf returns the cause of a failure: that of the finding that explains most.
func CauseOf(findings []Finding) Cause {
	return slices.MinFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Oracle.rank(), b.Oracle.rank()) }).Cause()
}

// Cause is built from the structured part of the finding.
func (f Finding) Cause() Cause {
	objects := f.Objects
	if own := slices.DeleteFunc(slices.Clone(objects), Object.isDerived); f.Oracle == Reference && len(own) > 0 {
		objects = own
	}
	cause := Cause{f.Oracle, f.Step, inWords(objects), f.Detail}
	// Different bugs change different fields of one object.
	if len(objects) == 1 && objects[0].Problem == Different {
		cause.Detail = strings.Join(objects[0].Fields, ", ")
	}
	return cause
}

// isDerived reports whether a controller of Kubernetes makes the object from another one, which explains more.
func (o Object) isDerived() bool { return o.Kind == "Pod" || o.Kind == "ReplicaSet" }

// inWords lists objects by their problem: "ConfigMap a missing; Web b, Web c left over".
func inWords(objects []Object) string {
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
		parts = append(parts, strings.Join(byProblem[problem], ", ")+" "+problem)
	}
	return strings.Join(parts, "; ")
}

// Symptom says in one sentence what is wrong.
func (c Cause) Symptom() string {
	switch c.Oracle {
	case Panics:
		return "panic " + c.Detail
	case Reference:
		symptom := cmp.Or(c.Objects, "a different state") + " in the end"
		if c.Detail != "" {
			symptom += ": " + c.Detail
		}
		return symptom
	case Converges:
		return "never reached: " + cmp.Or(c.Step, c.Detail)
	case Late:
		return c.Step + " took too long"
	case Stable:
		return cmp.Or(c.Objects, "never at rest")
	}
	return cmp.Or(c.Objects, c.Detail)
}
