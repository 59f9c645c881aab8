package oracle_test

import (
	"slices"
	"testing"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

func TestRepeatedAtRest(t *testing.T) {
	request := func(verb, name, step string) record.Request {
		return record.Request{Verb: verb, Resource: "secrets", Name: name, Step: step}
	}
	var got []string
	for _, repeated := range oracle.RepeatedAtRest(record.Requests{
		request("patch", "b", oracle.AfterLastStep), request("patch", "b", oracle.AfterLastStep), request("patch", "b", oracle.AfterLastStep),
		request("patch", "a", oracle.AfterLastStep), request("patch", "a", oracle.AfterLastStep),
		request("patch", "sent once", oracle.AfterLastStep), request("patch", "earlier", "Scale"), request("patch", "earlier", "Scale"),
		request("get", "read", oracle.AfterLastStep), request("get", "read", oracle.AfterLastStep),
	}) {
		got = append(got, repeated.Name)
	}
	if want := []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("got repeated writes of %q, want %q", got, want)
	}
}
