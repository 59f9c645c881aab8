package subject_test

import (
	"testing"

	"github.com/operator-assay/assay/harness/subject"
)

// This Go test in an operator's project runs every scenario once without faults, and then once for each fault.
func Example() {
	_ = func(t *testing.T) {
		operator, err := subject.Read(t.Context(), subject.Options{Folder: ".."})
		if err != nil {
			t.Fatal(err)
		}
		defer operator.Close()
		if err := operator.Build(t.Context(), t.Output()); err != nil {
			t.Fatal(err)
		}
		running, err := operator.Start(t.Context(), 0, t.Output())
		if err != nil {
			t.Fatal(err)
		}
		defer running.Close()
		results, err := running.Explore(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, result := range results {
			for _, finding := range result.Findings {
				t.Errorf("%s: %v", result.Plan, finding)
			}
		}
	}
}
