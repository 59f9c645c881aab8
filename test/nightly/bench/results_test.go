package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operator-assay/assay/harness/report/results"
)

func TestQuantiles(t *testing.T) {
	var all []time.Duration
	for i := range 100 {
		all = append(all, time.Duration(100-i)*time.Second)
	}
	if q := quantiles(all); q != (results.BenchQuantiles{P50: 50, P95: 95, Max: 100}) {
		t.Errorf("of 1 to 100 they are %+v", q)
	}
	if q := quantiles(all[:1]); q != (results.BenchQuantiles{P50: 100, P95: 100, Max: 100}) {
		t.Errorf("of one they are %+v", q)
	}
}

func TestSlopes(t *testing.T) {
	size := func(kind string, count int, mib uint64) results.BenchSize {
		return results.BenchSize{Kind: kind, Count: count, Operator: costs{phaseIdle: {Memory: results.BenchMemory{RSS: mib << 20}}}}
	}
	found := slopes([]results.BenchSize{size("A", 100, 60), size("A", 1124, 70), size("A", 500, 99), size("B", 100, 80)})
	if len(found) != 1 || found["A"] != 10 {
		t.Errorf("10 MiB for 1,024 resources are %v", found)
	}
}

func TestBudgets(t *testing.T) {
	for name, test := range map[string]struct {
		phase    string
		requests results.BenchRequests // for 20 resources
		over     []string
	}{
		"just within":          {phaseCreate, results.BenchRequests{Writes: 60, Events: 20}, nil},
		"one more":             {phaseCreate, results.BenchRequests{Writes: 60, Events: 21}, nil},
		"two more":             {phaseCreate, results.BenchRequests{Writes: 61, Events: 21}, []string{"4.10 requests per resource, 4 are allowed"}},
		"a read":               {phaseCreate, results.BenchRequests{Reads: 2, Writes: 40}, []string{"0.10 reads per resource, none is allowed"}},
		"a read of a healer":   {phaseDeleted, results.BenchRequests{Reads: 20, Writes: 80}, nil},
		"an Event while idle":  {phaseIdle, results.BenchRequests{Events: 1}, []string{"0 writes and 1 Events, none is allowed"}},
		"a read while idle":    {phaseIdle, results.BenchRequests{Reads: 2}, []string{"0.10 reads per resource, none is allowed"}},
		"reads after a start":  {phaseStart, results.BenchRequests{Reads: 100}, nil},
		"a write after it":     {phaseStart, results.BenchRequests{Writes: 1}, []string{"1 writes and 0 Events, none is allowed"}},
		"a scaling that reads": {phaseScale, results.BenchRequests{Reads: 20, Writes: 62}, []string{"1.00 reads", "4.10 requests"}},
	} {
		t.Run(name, func(t *testing.T) {
			over := exceeded(results.BenchSize{
				Operator: costs{test.phase: {Resources: 20, Requests: test.requests}},
				Budgets:  kinds["memcached"].budgets(),
			}, test.phase)
			if !slices.EqualFunc(over, test.over, strings.HasPrefix) {
				t.Errorf("it says %q", over)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	t.Setenv("BENCH_KIND", "webserver,memcached")
	t.Setenv("BENCH_N", "1000,100")
	s, err := settings()
	if err != nil || !slices.Equal(s.Counts, []int{100, 1000}) || !slices.Equal(s.Kinds, []string{"webserver", "memcached"}) {
		t.Errorf("they are %+v, %v", s, err)
	}
	for variable, text := range map[string]string{"BENCH_N=many": "is no number", "BENCH_N=0": "is no number", "BENCH_N=2701": "set 2700 at the most", "BENCH_KIND=pod": "is no kind"} {
		t.Run(variable, func(t *testing.T) {
			name, value, _ := strings.Cut(variable, "=")
			t.Setenv(name, value)
			if _, err := settings(); err == nil || !strings.Contains(err.Error(), text) || !strings.HasPrefix(err.Error(), variable) {
				t.Errorf("it says %v", err)
			}
		})
	}
}
