package results

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Bench contains the measurements of a benchmark.
type Bench struct {
	Head
	Kubernetes string      `json:"kubernetes"`
	CPUs       int         `json:"cpus"`
	Began      time.Time   `json:"began"`
	Sizes      []BenchSize `json:"sizes"`
	// Slopes is the memory per resource in KiB, by kind. It is set if the benchmark used several sizes.
	Slopes map[string]float64 `json:"kibPerResource,omitempty"`
	// Exceeded describes the budgets that were exceeded.
	Exceeded []string `json:"exceeded"`
}

// BenchSize contains the measurements for a number of resources of a kind, by phase. Ideal contains the measurements
// of the ideal client.
type BenchSize struct {
	Kind     string                `json:"kind"`
	Count    int                   `json:"resources"`
	Operator map[string]BenchPhase `json:"operator"`
	Ideal    map[string]BenchPhase `json:"ideal"`
	// Budgets is the maximum number of requests per resource, by phase. In a phase without a budget, no writes are
	// allowed.
	Budgets map[string]float64 `json:"budgets"`
}

// BenchPhase contains the measurements of a phase.
type BenchPhase struct {
	// Resources is the divisor for the number of requests per resource.
	Resources int `json:"resources"`
	// PodsReady is the time in seconds until all Pods were ready, and StatusRight until all statuses were correct.
	PodsReady   float64 `json:"podsReadySeconds,omitempty"`
	StatusRight float64 `json:"statusRightSeconds,omitempty"`
	// Curve is the number of resources with ready Pods and with a correct status over time.
	Curve []BenchPoint `json:"curve,omitempty"`
	// Healed is the time in seconds from the deletion of a Deployment until it was recreated, and HealedStatus until
	// the status was correct.
	Healed       BenchQuantiles `json:"healed,omitzero"`
	HealedStatus BenchQuantiles `json:"healedStatus,omitzero"`
	// Repaired is the time in seconds from the start of the operator until all deleted Deployments were recreated.
	Repaired float64       `json:"repairedSeconds,omitempty"`
	Requests BenchRequests `json:"requests"`
	// CPU maps each program to its CPU time in seconds.
	CPU map[string]float64 `json:"cpuSeconds,omitempty"`
	// OthersCPU is the share of CPU time used by other processes on the machine. If it is high, the measured times
	// are not reliable.
	OthersCPU float64     `json:"othersCPU"`
	Memory    BenchMemory `json:"memory"` // of the operator, at the end of the phase
}

// BenchPoint is a sample of a curve.
type BenchPoint struct {
	Seconds float64 `json:"seconds"`
	Ready   int     `json:"ready"`
	Right   int     `json:"right"`
}

// BenchQuantiles contains quantiles in seconds.
type BenchQuantiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

// BenchRequests counts the requests of a client.
type BenchRequests struct {
	Reads  int `json:"reads"`
	Writes int `json:"writes"` // without Events
	Events int `json:"events"`
	// Refused is the number of requests with a status other than 2xx.
	Refused int `json:"refused"`
	// Each is the number of requests by verb, resource and status, for example "patch deployments 409". A 2xx status
	// is omitted.
	Each map[string]int `json:"each,omitempty"`
}

func (r BenchRequests) All() int { return r.Reads + r.Writes + r.Events }

// String lists the number of requests by verb and resource in descending order.
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

// BenchMemory is the memory usage of a process in bytes. It is zero on systems without /proc.
type BenchMemory struct {
	RSS     uint64 `json:"rss"`
	PeakRSS uint64 `json:"peakRSS"` // maximum since the process started
	Anon    uint64 `json:"anon"`    // part of RSS that is not backed by files such as the binary
}

func (b Bench) Write(path string) error {
	b.Head = Head{Format, KindBench}
	return write(path, b)
}
