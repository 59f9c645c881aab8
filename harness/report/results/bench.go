package results

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Bench is what a run of the bench has measured.
type Bench struct {
	Head
	Kubernetes string      `json:"kubernetes"`
	CPUs       int         `json:"cpus"`
	Began      time.Time   `json:"began"`
	Sizes      []BenchSize `json:"sizes"`
	// Slopes are the KiB of memory per resource, by kind, if there are several sizes.
	Slopes map[string]float64 `json:"kibPerResource,omitempty"`
	// Exceeded describes the exceeded budgets.
	Exceeded []string `json:"exceeded"`
}

// BenchSize is a number of resources of a kind, with the operator's phases and those of the ideal client.
type BenchSize struct {
	Kind     string                `json:"kind"`
	Count    int                   `json:"resources"`
	Operator map[string]BenchPhase `json:"operator"`
	Ideal    map[string]BenchPhase `json:"ideal"`
	// Budgets are how many requests a resource may cost, by phase; a phase without one may not write.
	Budgets map[string]float64 `json:"budgets"`
}

// BenchPhase is what a phase has cost.
type BenchPhase struct {
	// Resources is how many resources share the requests.
	Resources int `json:"resources"`
	// PodsReady and StatusRight are the seconds until all Pods were Ready, and until every status was right.
	PodsReady   float64 `json:"podsReadySeconds,omitempty"`
	StatusRight float64 `json:"statusRightSeconds,omitempty"`
	// Curve is how many resources had their Pods ready, and their status right, as time went on.
	Curve []BenchPoint `json:"curve,omitempty"`
	// Healed and HealedStatus are the seconds from a deletion to the new Deployment, and to the right status.
	Healed       BenchQuantiles `json:"healed,omitzero"`
	HealedStatus BenchQuantiles `json:"healedStatus,omitzero"`
	// Repaired is the seconds from the operator's start until all Deployments that had been deleted existed again.
	Repaired float64       `json:"repairedSeconds,omitempty"`
	Requests BenchRequests `json:"requests"`
	// CPU is the seconds that each program of this run has used, by the program's name.
	CPU map[string]float64 `json:"cpuSeconds,omitempty"`
	// OthersCPU is the share of the machine's CPU time that other processes have used. If it is large, times mean little.
	OthersCPU float64 `json:"othersCPU"`
	// Memory is the operator's at the end of the phase.
	Memory BenchMemory `json:"memory"`
}

// BenchPoint is a point of a curve.
type BenchPoint struct {
	Seconds float64 `json:"seconds"`
	Ready   int     `json:"ready"`
	Right   int     `json:"right"`
}

// BenchQuantiles are seconds.
type BenchQuantiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

// BenchRequests are how many requests a client has made.
type BenchRequests struct {
	Reads  int `json:"reads"`
	Writes int `json:"writes"` // Events apart
	Events int `json:"events"`
	// Refused is how many of them were not answered with 2xx.
	Refused int `json:"refused"`
	// Each counts them by verb, resource and, if it is not 2xx, status: "patch deployments 409".
	Each map[string]int `json:"each,omitempty"`
}

// All is how many requests there were.
func (r BenchRequests) All() int { return r.Reads + r.Writes + r.Events }

// String lists the requests by verb and resource, the most frequent first.
func (r BenchRequests) String() string {
	all := slices.Sorted(maps.Keys(r.Each))
	slices.SortStableFunc(all, func(a, b string) int { return r.Each[b] - r.Each[a] })
	for i, what := range all {
		all[i] = fmt.Sprintf("%d %s", r.Each[what], what)
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// BenchMemory is a process's memory in bytes. Where there is no /proc, it is zero.
type BenchMemory struct {
	RSS     uint64 `json:"rss"`
	PeakRSS uint64 `json:"peakRSS"` // the highest since its start
	Anon    uint64 `json:"anon"`    // of RSS, without the pages of the binary
}

// Write writes the bench to a file.
func (b Bench) Write(path string) error {
	b.Head = Head{Format, KindBench}
	return write(path, b)
}
