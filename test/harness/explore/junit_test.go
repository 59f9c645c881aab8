package explore

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/operator-assay/assay/test/harness/faultinject"
)

func TestAnExplorersJUnitHasASuiteForEachCategory(t *testing.T) {
	at := faultinject.RequestKey{Verb: "create", Target: "configmaps", Name: "-", Nth: 1}
	results := []Result{
		{Plan: Plan{"greeter/create", faultinject.Fault{Type: faultinject.SlowReads}}, Triggered: true, Duration: time.Second},
		{Plan: Plan{"greeter/create", faultinject.Fault{Type: faultinject.CrashAfter, At: at}}, Triggered: true, Duration: 2 * time.Second,
			Findings: []Finding{{Counts, "created twice"}, {Stable, "changed\x1b[31m again"}}},
		{Plan: Plan{"greeter/delete", faultinject.Fault{Type: faultinject.CrashBefore, At: at}}},
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := WriteResults(dir, results); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "junit.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var got reporters.JUnitTestSuites
	if err := xml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 3 || got.Failures != 1 || got.Time != 3 || len(got.TestSuites) != 2 {
		t.Fatalf("the sums are wrong: %s", text)
	}
	crashes, slowness := got.TestSuites[0], got.TestSuites[1]
	if crashes.Name != "crashes" || crashes.Package != JUnitPackage || crashes.Tests != 2 || crashes.Skipped != 1 || slowness.Name != "latency" || slowness.Tests != 1 {
		t.Errorf("the suites are wrong: %s", text)
	}
	bad := crashes.TestCases[0]
	if bad.Classname != "greeter/create" || bad.Name != "crash-after create configmaps - 1" || bad.Failure == nil || bad.Failure.Message != "counts: created twice\nstable: changed\uFFFD[31m again" {
		t.Errorf("the failure is wrong: %+v", bad)
	}
}
