package oracle_test

import (
	"slices"
	"testing"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

func TestRepeatedAtRest(t *testing.T) {
	const last = oracle.AfterLastStep
	twice := func(verb, resource, name, step string) record.Requests {
		return slices.Repeat(record.Requests{{Verb: verb, Resource: resource, Name: name, Step: step}}, 2)
	}
	var got []string
	for _, repeated := range oracle.RepeatedAtRest(slices.Concat(
		twice("patch", "secretstores", "web", last), twice("patch", "secrets", "web", last), twice("patch", "secrets", "web", last),
		twice("patch", "secrets", "app", last), twice("deletecollection", "secrets", "", last), twice("delete", "secrets", "web", last),
		twice("patch", "secrets", "sent once", last)[:1], twice("get", "secrets", "read", last),
		twice("patch", "secrets", "earlier", "Scale"), twice("patch", "secrets", "before all steps", ""),
	)) {
		got = append(got, repeated.Verb+" "+repeated.Resource+" "+repeated.Name)
	}
	// sorted by the verb, then by the resource, then by the name
	want := []string{"delete secrets web", "deletecollection secrets ", "patch secrets app", "patch secrets web", "patch secretstores web"}
	if !slices.Equal(got, want) {
		t.Errorf("got repeated writes %q, want %q", got, want)
	}
}
