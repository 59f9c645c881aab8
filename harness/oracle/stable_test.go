package oracle_test

import (
	"slices"
	"testing"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

func TestRepeatedAtRest(t *testing.T) {
	const last = oracle.AfterLastStep
	request := func(verb, resource, name, step string) record.Request {
		return record.Request{Verb: verb, Resource: resource, Name: name, Step: step}
	}
	var got []string
	for _, repeated := range oracle.RepeatedAtRest(record.Requests{
		request("patch", "secretstores", "web", last), request("patch", "secretstores", "web", last),
		request("patch", "secrets", "web", last), request("patch", "secrets", "web", last), request("patch", "secrets", "web", last),
		request("patch", "secrets", "app", last), request("patch", "secrets", "app", last),
		request("deletecollection", "secrets", "", last), request("deletecollection", "secrets", "", last),
		request("delete", "secrets", "web", last), request("delete", "secrets", "web", last),
		request("patch", "secrets", "sent once", last), request("get", "secrets", "read", last), request("get", "secrets", "read", last),
		request("patch", "secrets", "earlier", "Scale"), request("patch", "secrets", "earlier", "Scale"),
		request("patch", "secrets", "before all steps", ""), request("patch", "secrets", "before all steps", ""),
	}) {
		got = append(got, repeated.Verb+" "+repeated.Resource+" "+repeated.Name)
	}
	// sorted by the verb, then by the resource, then by the name
	want := []string{"delete secrets web", "deletecollection secrets ", "patch secrets app", "patch secrets web", "patch secretstores web"}
	if !slices.Equal(got, want) {
		t.Errorf("got repeated writes %q, want %q", got, want)
	}
}
