package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Results contains the measurements of a run.
type Results struct {
	Kubernetes string   `json:"kubernetes"`
	CPUs       int      `json:"cpus"`
	Sizes      []Size   `json:"sizes"`
	Slope      float64  `json:"kibPerResource"` // memory growth per resource, or 0 for a single size
	Exceeded   []string `json:"exceeded"`       // the budgets that were exceeded
}

// Size contains the measurements for one number of resources. Operator and Ideal map phase names to measurements.
type Size struct {
	Count    int              `json:"resources"`
	Operator map[string]Phase `json:"operator"`
	Ideal    map[string]Phase `json:"ideal"`
}

// Phase contains the cost of a phase. Times are in seconds.
type Phase struct {
	Resources  int            `json:"resources"`                   // the number of resources that the phase acts on
	AllReady   float64        `json:"allReadySeconds,omitempty"`   // until all Pods were ready
	AllCorrect float64        `json:"allCorrectSeconds,omitempty"` // until every status was correct
	HealP50    float64        `json:"healP50Seconds,omitempty"`    // until a deleted Deployment was recreated
	Requests   map[string]int `json:"requests"`
	Memory     int            `json:"rssBytes,omitempty"` // at the end of the phase
}

// auditPolicy logs only the requests that are counted, to limit the cost for the API server.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: None, verbs: [watch]}
- {level: None, nonResourceURLs: ["*"]}
- {level: None, namespaces: [` + operatorNamespace + `]}
- {level: Request, users: ["system:serviceaccount:` + operatorNamespace + `:` + operatorAccount + `"]}
- {level: None}
`

const idleFor = 3 * time.Second

type auditLog struct {
	path string
	read int // the number of bytes that have been read
}

// untilIdle waits until the measured client sends no request for idleFor, and returns the requests since the last call.
func (l *auditLog) untilIdle() (requests []auditv1.Event, err error) {
	for last := time.Now(); time.Since(last) < idleFor; {
		text, err := os.ReadFile(l.path)
		if err != nil {
			return nil, err
		}
		text = text[l.read : bytes.LastIndexByte(text, '\n')+1] // the last line may be incomplete
		l.read += len(text)
		for line := range bytes.Lines(text) {
			var request auditv1.Event
			if err := json.Unmarshal(line, &request); err != nil {
				return nil, fmt.Errorf("the audit log %s: %w", l.path, err)
			}
			requests, last = append(requests, request), time.Now()
		}
		time.Sleep(idleFor / 10)
	}
	return requests, nil
}

// count counts requests by verb, resource and status, such as "patch deployments 409". A 2xx status is omitted.
func count(requests []auditv1.Event) map[string]int {
	counts := map[string]int{}
	for _, request := range requests {
		what := strings.TrimSuffix(request.Verb+" "+request.ObjectRef.Resource+"/"+request.ObjectRef.Subresource, "/")
		if code := request.ResponseStatus.Code; code/100 != 2 {
			what += fmt.Sprintf(" %d", code)
		}
		counts[what]++
	}
	return counts
}

func (p Phase) perResource() float64 {
	all := 0
	for _, requests := range p.Requests {
		all += requests
	}
	return float64(all) / float64(p.Resources)
}

// allowance is added to every nonzero budget, because a few rollouts on a slow machine take so long that they cause an
// additional status update or a conflict. A bug usually affects more than 5% of the resources.
const allowance = 0.05

// progressInterval is how often the operator may report the progress of a rollout.
const progressInterval = 5.0 // seconds

// budget returns how many requests per resource the operator may send in a phase, on average.
func (s *Size) budget(phase string) float64 {
	return budgets[phase] + math.Floor(s.Operator[phase].AllCorrect/progressInterval)
}

func (r *Results) judge() {
	for _, s := range r.Sizes {
		for _, phase := range phases {
			p := s.Operator[phase]
			average, budget := p.perResource(), s.budget(phase)
			if budget == 0 && average > 0 || average > budget+allowance {
				r.Exceeded = append(r.Exceeded, fmt.Sprintf("%d resources, %s: got %.2f requests per resource, want at most %g: %v",
					s.Count, phase, average, budget, p.Requests))
			}
		}
		if first := r.Sizes[0]; s.Count > first.Count {
			r.Slope = float64(s.Operator[phaseIdle].Memory-first.Operator[phaseIdle].Memory) / 1024 / float64(s.Count-first.Count)
		}
	}
}

// table prints the results. A missed target does not fail the run, because times and memory depend on the machine.
func (r *Results) table(out io.Writer) {
	for _, s := range r.Sizes {
		fmt.Fprintf(out, "\n%d Memcacheds with 1 Pod, Kubernetes %s, %d CPUs\n\n", s.Count, r.Kubernetes, r.CPUs)
		aligned := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
		fmt.Fprintln(aligned, "\toperator\tideal client\tratio\tlimit\t")
		row := func(label, phase, format, limit string, of func(Phase) float64) {
			operator, ideal := of(s.Operator[phase]), of(s.Ideal[phase])
			fmt.Fprintf(aligned, "%s: %s\t"+format+"\t", phase, label, operator)
			if ideal > 0 {
				fmt.Fprintf(aligned, format+"\t%.2f\t%s\t\n", ideal, operator/ideal, limit)
			} else {
				fmt.Fprintf(aligned, "–\t–\t%s\t\n", limit)
			}
		}
		row("all Pods ready", phaseCreate, "%.2f s", "aim ≤ 1.15 ×", func(p Phase) float64 { return p.AllReady })
		row("every status correct", phaseCreate, "%.2f s", "aim ≤ 1.25 ×", func(p Phase) float64 { return p.AllCorrect })
		row("all Pods ready", phaseScale, "%.2f s", "–", func(p Phase) float64 { return p.AllReady })
		row("every status correct", phaseScale, "%.2f s", "–", func(p Phase) float64 { return p.AllCorrect })
		row("new Deployment (p50)", phaseHeal, "%.1f ms", "aim ≤ 1.5 ×", func(p Phase) float64 { return 1000 * p.HealP50 })
		for _, phase := range phases {
			row("requests per resource", phase, "%.2f", fmt.Sprintf("≤ %g", s.budget(phase)), Phase.perResource)
		}
		row("memory of the process", phaseIdle, "%.0f MiB", "–", func(p Phase) float64 { return float64(p.Memory) / (1 << 20) })
		_ = aligned.Flush() // a print error cannot be reported
	}
	if r.Slope != 0 {
		fmt.Fprintf(out, "\n%.1f KiB of memory per resource (aim ≤ 32 KiB)\n", r.Slope)
	}
}
