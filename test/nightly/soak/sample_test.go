package soak

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/test/scenarios"
)

const (
	// growth limits memory and requests relative to the first sample. It tolerates normal variation, for
	// example from garbage collections, but not a leak, whose effect grows over time.
	growth = 1.25
	// eventMemory is how many bytes of memory each change may add. A change produces one or two Events, and client-go's
	// event recorder caches them for 6 to 12 minutes. A leaked object would take several times as much.
	eventMemory = 2 << 10
	// moreGoroutines is how many extra goroutines are tolerated, for example for open connections.
	moreGoroutines = 10

	heapMetric = "go_memstats_next_gc_bytes"
)

type sample struct {
	// heap is the heap size that triggers the next garbage collection, which is about twice the live heap.
	heap, goroutines float64
	// watches is the total number of watches on the API server. Other clients have a constant number of watches.
	watches           float64
	requestsPerChange float64
	// rejected is the number of WebServers whose node port has leaked, so that the API server reports it as already
	// allocated. requestsPerChange excludes them.
	rejected int
	changes  int
}

func (s sample) String() string {
	return fmt.Sprintf("heap %.1f MiB, %.0f goroutines, %.0f watches, %.2f requests per change without status updates, %d Services rejected",
		s.heap/(1<<20), s.goroutines, s.watches, s.requestsPerChange, s.rejected)
}

// expectLike fails the test if the usage has grown by more than the tolerance since the first sample of the process.
func (s sample) expectLike(t *testing.T, first sample) {
	t.Helper()
	for _, c := range []struct {
		name       string
		got, limit float64
	}{
		{"bytes of heap", s.heap, first.heap*growth + float64(2*eventMemory*(s.changes-first.changes))},
		{"goroutines", s.goroutines, first.goroutines + moreGoroutines},
		{"watches", s.watches, first.watches},
		{"requests per change", s.requestsPerChange, first.requestsPerChange * growth},
	} {
		if c.got > c.limit {
			t.Errorf("got %.2f %s, want at most %.2f; first sample: %s", c.got, c.name, c.limit, first)
		}
	}
}

// measure scales all resources up and down, so that the operator does the same work each time, and takes a sample. The
// heap is the smaller of two values, because a garbage collection during a burst of changes frees less memory.
func (s *soak) measure(t *testing.T) sample {
	t.Helper()
	before := s.injector.Requests.Requests(isWork)
	scrapeOperator := func() metrics {
		return scrape(t, s.operator, fmt.Sprintf("https://localhost:%d/metrics", metricsPort), s.token)
	}
	s.round(t, s.scaleTo(2), nil)
	half := scrapeOperator()
	s.round(t, s.scaleTo(1), nil)
	rejected := s.rejected()
	requests := s.injector.Requests.Requests(isWork)[len(before):].Filter(func(r record.Request) bool {
		return !rejected.Has(strings.TrimSuffix(r.Name, "-service"))
	})
	own := scrapeOperator()
	server := scrape(t, s.server, strings.TrimSuffix(s.plane.Config.Host, "/")+"/metrics", "")
	return sample{
		heap:              min(half.sum(t, heapMetric, ""), own.sum(t, heapMetric, "")),
		goroutines:        own.sum(t, "go_goroutines", ""),
		watches:           server.sum(t, "apiserver_longrunning_requests", `verb="WATCH"`),
		requestsPerChange: float64(len(requests)) / float64(2*(len(s.resources)-len(rejected))),
		rejected:          len(rejected),
		changes:           s.changes,
	}
}

func (s *soak) rejected() sets.Set[string] {
	names := sets.Set[string]{}
	for _, object := range s.history.Objects(s.namespace) {
		if strings.Contains(fmt.Sprint(object.Object["status"]), scenarios.PortIsAllocated) {
			names.Insert(object.GetName())
		}
	}
	return names
}

// isWork excludes watches, Leases and status updates. Status updates are excluded because a slow rollout needs more of
// them.
func isWork(r record.Request) bool {
	return r.Verb != "watch" && r.Subresource != "status" && !r.IsLease()
}

type metrics string

// sum adds up all series of a metric whose labels contain the given string.
func (m metrics) sum(t *testing.T, name, labels string) (sum float64) {
	t.Helper()
	lines := regexp.MustCompile(`(?m)^`+name+`(?:\{.*`+labels+`.*\})? (\S+)$`).FindAllStringSubmatch(string(m), -1)
	if lines == nil {
		t.Fatalf("got no metric %s", name)
	}
	for _, line := range lines {
		value, err := strconv.ParseFloat(line[1], 64)
		noError(t, err)
		sum += value
	}
	return sum
}

func scrape(t *testing.T, scraper *http.Client, url, token string) metrics {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	noError(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := scraper.Do(request)
	noError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got status %s and error %v from %s, want 200: %s", response.Status, err, url, body)
	}
	return metrics(body)
}
