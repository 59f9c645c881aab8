package soak

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

const (
	// growth is how much more memory and how many more requests a later sample may have. A garbage collection, or a status that
	// is written once more, makes some difference; a leak makes more with each lap.
	growth = 1.25
	// eventMemory is how much memory a change may have taken: client-go's recorder remembers each Event for 6 to 12 minutes. An
	// object that is kept for each change takes several times as much.
	eventMemory = 1 << 10
	// moreGoroutines is how many more goroutines a later sample may have: connections come and go.
	moreGoroutines = 10
)

// sample is what an idle operator needs, and what a change has cost.
type sample struct {
	// heap is how large it may be when the next garbage collection begins: twice what the last one has found in use.
	heap, goroutines float64
	// watches are all that the API server has, of which the others' are always as many.
	watches           float64
	requestsPerChange float64
	// refused are the WebServers with a leakedPort, whose requests do not count.
	refused int
	// changes is how many there were until then.
	changes int
}

func (s sample) String() string {
	return fmt.Sprintf("%.1f MiB of heap, %.0f goroutines, %.0f watches, %.2f requests per change beside statuses, %d Services refused",
		s.heap/(1<<20), s.goroutines, s.watches, s.requestsPerChange, s.refused)
}

// expectLike fails the test where the sample shows more than the first one of the same process.
func (s sample) expectLike(t *testing.T, first sample) {
	t.Helper()
	for _, c := range []struct {
		what     string
		is, most float64
	}{
		{"bytes of heap", s.heap, first.heap*growth + float64(2*eventMemory*(s.changes-first.changes))},
		{"goroutines", s.goroutines, first.goroutines + moreGoroutines},
		{"watches", s.watches, first.watches},
		{"requests per change", s.requestsPerChange, first.requestsPerChange * growth},
	} {
		if c.is > c.most {
			t.Errorf("%.2f %s, more than %.2f; at first: %s", c.is, c.what, c.most, first)
		}
	}
}

// measure has the operator do the same work each time, scaling all resources up and down, and samples it when it is idle.
func (s *soak) measure(t *testing.T) sample {
	t.Helper()
	before := s.injector.Requests.Requests(isWork)
	s.round(t, s.scaleTo(2), nil)
	s.round(t, s.scaleTo(1), nil)
	refused := s.refused()
	requests := s.injector.Requests.Requests(isWork)[len(before):].Filter(func(r record.Request) bool {
		return !refused.Has(strings.TrimSuffix(r.Name, "-service"))
	})
	own := scrape(t, s.operator, fmt.Sprintf("https://localhost:%d/metrics", metricsPort), s.token)
	server := scrape(t, s.server, strings.TrimSuffix(s.plane.Config.Host, "/")+"/metrics", "")
	return sample{
		heap:              own.sum(t, "go_memstats_next_gc_bytes", ""),
		goroutines:        own.sum(t, "go_goroutines", ""),
		watches:           server.sum(t, "apiserver_longrunning_requests", `verb="WATCH"`),
		requestsPerChange: float64(len(requests)) / float64(2*(len(s.resources)-len(refused))),
		refused:           len(refused),
		changes:           s.changes,
	}
}

// refused are the names of the WebServers with a leakedPort.
func (s *soak) refused() sets.Set[string] {
	names := sets.Set[string]{}
	for _, object := range s.history.Objects(s.namespace) {
		if status, _ := json.Marshal(object.Object["status"]); object.GetKind() == "WebServer" && strings.Contains(string(status), leakedPort) {
			names.Insert(object.GetName())
		}
	}
	return names
}

// isWork reports whether a request is one whose number the changes alone decide. How many statuses tell of a rollout depends on
// how long it takes; too many would keep the operator from being idle.
func isWork(r record.Request) bool {
	return r.Verb != "watch" && r.Subresource != "status" && !r.IsLease()
}

// metrics returns the sums of metrics by name. labels is a part of those that are summed.
type metrics string

func (m metrics) sum(t *testing.T, name, labels string) (sum float64) {
	t.Helper()
	lines := regexp.MustCompile(`(?m)^`+name+`(?:\{.*`+labels+`.*\})? (\S+)$`).FindAllStringSubmatch(string(m), -1)
	if lines == nil {
		t.Fatalf("there is no metric %s", name)
	}
	for _, line := range lines {
		value, err := strconv.ParseFloat(line[1], 64)
		noError(t, err)
		sum += value
	}
	return sum
}

// scrape reads a metrics endpoint.
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
		t.Fatalf("%s: %s %s %v", url, response.Status, body, err)
	}
	return metrics(body)
}
