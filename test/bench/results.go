package bench

import (
	"encoding/json"
	"os"
	"slices"
	"time"

	"github.com/operator-assay/assay/test/harness/report/results"
)

// Results are the results of a run, as written to results.json.
type Results struct {
	results.Head
	Kubernetes string    `json:"kubernetes"`
	CPUs       int       `json:"cpus"`
	Began      time.Time `json:"began"`
	Sizes      []*Size   `json:"sizes"`
	// Slopes are the KiB of memory per resource, by kind, if there are several sizes.
	Slopes map[string]float64 `json:"kibPerResource,omitempty"`
	// Exceeded describes the exceeded budgets.
	Exceeded []string `json:"exceeded"`
}

// Size is the cost of a number of resources of a kind, by phase.
type Size struct {
	Kind     string            `json:"kind"`
	Count    int               `json:"resources"`
	Operator map[string]*Phase `json:"operator"`
	Ideal    map[string]*Phase `json:"ideal"`

	// Budgets are how many requests a resource may cost, by phase; a phase without one may not write.
	Budgets map[string]float64 `json:"budgets"`

	budgets map[string]budget // by phase
}

// The phases, in their order.
const (
	phaseCreate  = "create"
	phaseIdle    = "idle"
	phaseScale   = "scale"
	phaseDeleted = "child deleted"
	phaseStart   = "start"
)

// Quantiles are seconds.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

// quantiles are computed by nearest rank, of at least one duration.
func quantiles(all []time.Duration) *Quantiles {
	sorted := slices.Sorted(slices.Values(all))
	at := func(percent int) float64 {
		rank := (len(sorted)*percent + 99) / 100
		return sorted[max(rank, 1)-1].Seconds()
	}
	return &Quantiles{P50: at(50), P95: at(95), Max: at(100)}
}

// slopes are the KiB of memory per resource, between the smallest and the largest size of each kind.
func slopes(sizes []*Size) map[string]float64 {
	found := map[string]float64{}
	for _, s := range sizes {
		smallest, largest := extremes(sizes, s.Kind)
		if more := largest.Count - smallest.Count; more > 0 {
			grown := float64(largest.Operator[phaseIdle].Memory.RSS) - float64(smallest.Operator[phaseIdle].Memory.RSS)
			found[s.Kind] = grown / 1024 / float64(more)
		}
	}
	return found
}

func extremes(sizes []*Size, kind string) (smallest, largest *Size) {
	for _, s := range sizes {
		if s.Kind != kind {
			continue
		}
		if smallest == nil || s.Count < smallest.Count {
			smallest = s
		}
		if largest == nil || s.Count > largest.Count {
			largest = s
		}
	}
	return smallest, largest
}

func (r *Results) write(path string) error {
	r.Head = results.Head{Format: results.Format, Kind: results.KindBench}
	for _, s := range r.Sizes {
		s.Budgets = map[string]float64{}
		for phase, b := range s.budgets {
			if b.writes {
				s.Budgets[phase] = b.all
			}
		}
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
