package bench

import (
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/report/results"
)

const (
	phaseCreate  = "create"
	phaseIdle    = "idle"
	phaseScale   = "scale"
	phaseDeleted = "child deleted"
	phaseStart   = "start"
)

// phases lists the phases of the operator in order.
var phases = []string{phaseCreate, phaseIdle, phaseScale, phaseDeleted, phaseStart}

// quantiles computes quantiles by the nearest-rank method. There must be at least one duration.
func quantiles(all []time.Duration) results.BenchQuantiles {
	sorted := slices.Sorted(slices.Values(all))
	at := func(percent int) float64 {
		rank := (len(sorted)*percent + 99) / 100
		return sorted[max(rank, 1)-1].Seconds()
	}
	return results.BenchQuantiles{P50: at(50), P95: at(95), Max: at(100)}
}

// slopes returns the memory growth in KiB per resource between the smallest and the largest size of each kind.
func slopes(sizes []results.BenchSize) map[string]float64 {
	found, smallest := map[string]float64{}, map[string]results.BenchSize{}
	byCount := func(a, b results.BenchSize) int { return a.Count - b.Count }
	for _, s := range slices.SortedFunc(slices.Values(sizes), byCount) {
		if _, known := smallest[s.Kind]; !known {
			smallest[s.Kind] = s
		}
		if more := s.Count - smallest[s.Kind].Count; more > 0 {
			grown := float64(s.Operator[phaseIdle].Memory.RSS) - float64(smallest[s.Kind].Operator[phaseIdle].Memory.RSS)
			found[s.Kind] = grown / 1024 / float64(more)
		}
	}
	return found
}
