package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Plans are what the fault explorer has tried on a scenario, of one family of faults.
type Plans struct {
	Scenario, Family string
	Tried, Failed    int
	Took             time.Duration
}

// ReadPlans sums up faults/results.json in a folder, in which each plan has a line. Nothing is there when the
// explorer has not run.
func ReadPlans(dir string) ([]Plans, error) {
	path := filepath.Join(dir, "faults", "results.json")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []Plans
	places := map[[2]string]int{} // in all, by scenario and family
	lines := json.NewDecoder(file)
	for {
		var plan struct {
			Scenario string
			Family   string `json:"category"`
			Passed   bool
			Seconds  float64
		}
		err := lines.Decode(&plan)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s is none of the explorer's: %w", path, err)
		}
		key := [2]string{plan.Scenario, plan.Family}
		place, known := places[key]
		if !known {
			place = len(all)
			places[key] = place
			all = append(all, Plans{Scenario: plan.Scenario, Family: plan.Family})
		}
		sum := &all[place]
		sum.Tried++
		if !plan.Passed {
			sum.Failed++
		}
		sum.Took += time.Duration(plan.Seconds * float64(time.Second))
	}
}
