package results

import (
	"encoding/xml"
	"testing"

	"github.com/onsi/ginkgo/v2/reporters"
)

func TestJUnitHasSuitePerCategory(t *testing.T) {
	text, err := exploration().junit()
	if err != nil {
		t.Fatal(err)
	}
	var got reporters.JUnitTestSuites
	if err := xml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.TestSuites) != 2 || got.Tests != 3 || got.Failures != 1 || got.Time != 3 {
		t.Fatalf("got %+v", got)
	}
	latency, crashes := got.TestSuites[0], got.TestSuites[1]
	if crashes.Name != "crashes" || crashes.Package != junitPackage || crashes.Tests != 2 || crashes.Skipped != 1 || latency.Name != "latency" {
		t.Errorf("got %+v", got)
	}
	failed := crashes.TestCases[0]
	if failed.Name != "crash-after create configmaps - 1" || failed.Classname != "greeter/create" || failed.Failure.Type != "counts" ||
		failed.Failure.Message != "counts: created twice\nstable: changed�[31m again" ||
		failed.Failure.Description != "  counts           created twice\n  stable           changed�[31m again\n" {
		t.Errorf("got %+v with failure %+v", failed, failed.Failure)
	}
}
