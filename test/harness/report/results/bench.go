package results

// Bench is what a run of the bench has measured.
type Bench struct {
	Head
	Kubernetes string      `json:"kubernetes"`
	CPUs       int         `json:"cpus"`
	Exceeded   []string    `json:"exceeded"`
	Sizes      []BenchSize `json:"sizes"`
}

// BenchSize is a number of resources of a kind, with the operator's phases and those of the ideal client.
type BenchSize struct {
	Kind     string                `json:"kind"`
	Count    int                   `json:"resources"`
	Operator map[string]BenchPhase `json:"operator"`
	Ideal    map[string]BenchPhase `json:"ideal"`
	// Budgets are how many requests a resource may cost, by phase; a phase without one may cost none.
	Budgets map[string]float64 `json:"budgets"`
}

// BenchPhase is what a phase has cost.
type BenchPhase struct {
	Resources   int     `json:"resources"`
	PodsReady   float64 `json:"podsReadySeconds"`
	StatusRight float64 `json:"statusRightSeconds"`
	Requests    struct {
		Reads  int `json:"reads"`
		Writes int `json:"writes"`
		Events int `json:"events"`
	} `json:"requests"`
	Memory struct {
		RSS uint64 `json:"rss"`
	} `json:"memory"`
	// Curve is how many resources had their Pods ready, and their status right, as time went on.
	Curve []BenchPoint `json:"curve"`
}

// BenchPoint is a point of a curve.
type BenchPoint struct {
	Seconds float64 `json:"seconds"`
	Ready   int     `json:"ready"`
	Right   int     `json:"right"`
}

// ReadBench reads what package bench wrote.
func ReadBench(path string) (*Bench, error) {
	b := &Bench{}
	return b, read(path, KindBench, b)
}
