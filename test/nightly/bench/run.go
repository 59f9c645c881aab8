package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/report"
	"github.com/operator-assay/assay/harness/report/results"
)

// Settings are the settings of a run.
type Settings struct {
	Kinds     []string
	Counts    []int
	Artifacts string // the directory for results.json and logs
}

// settings reads BENCH_KIND and BENCH_N, which are comma-separated lists.
func settings() (Settings, error) {
	var s Settings
	var err error
	if s.Artifacts, err = filepath.Abs(filepath.Join(root, "_artifacts", "bench")); err != nil {
		return s, err
	}
	for name := range strings.SplitSeq(cmp.Or(os.Getenv("BENCH_KIND"), "memcached"), ",") {
		if _, known := kinds[name]; !known {
			return s, fmt.Errorf("BENCH_KIND=%s is no kind: set memcached, webserver, or both with a comma in between", name)
		}
		s.Kinds = append(s.Kinds, name)
	}
	for text := range strings.SplitSeq(os.Getenv("BENCH_N"), ",") {
		count, err := strconv.Atoi(text)
		if err != nil || count < 1 {
			return s, fmt.Errorf("BENCH_N=%s is no number of resources: set one from 1 on, or several with commas in between", text)
		}
		for _, name := range s.Kinds {
			if limit := kinds[name].max; count > limit {
				return s, fmt.Errorf("BENCH_N=%d is more than there can be of %s: set %d at the most", count, name, limit)
			}
		}
		s.Counts = append(s.Counts, count)
	}
	slices.Sort(s.Counts)
	return s, nil
}

// run measures all kinds and sizes.
func run(ctx context.Context, s Settings, reporter *report.Report) (*results.Bench, error) {
	if err := os.RemoveAll(s.Artifacts); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Artifacts, 0o755); err != nil {
		return nil, err
	}
	began := time.Now()
	program, err := buildOperator(ctx, s.Artifacts)
	if err != nil {
		return nil, err
	}
	reporter.Phase("operator", time.Since(began), "%s", program)
	r := &results.Bench{CPUs: runtime.NumCPU(), Began: began, Exceeded: []string{}}
	for _, name := range s.Kinds {
		for _, count := range s.Counts {
			b := &bench{kind: kinds[name], count: count, program: program, artifacts: s.Artifacts, reporter: reporter, results: r}
			size, err := b.run(ctx)
			if err != nil {
				return nil, fmt.Errorf("%d %s: %w", count, name, err)
			}
			r.Sizes = append(r.Sizes, size)
			r.Exceeded = append(r.Exceeded, allExceeded(size)...)
		}
	}
	r.Slopes = slopes(r.Sizes)
	return r, r.Write(filepath.Join(s.Artifacts, "results.json"))
}

// bench measures one size of one kind.
type bench struct {
	kind      kind
	count     int
	program   string
	artifacts string
	reporter  *report.Report
	results   *results.Bench
	template  *template
}

// limit returns the timeout for all phases on one cluster.
func (b *bench) limit() time.Duration {
	return 15*time.Minute + time.Duration(b.count)*500*time.Millisecond
}

// run measures the operator. It then uses the objects that the operator has applied as the template for measuring the
// ideal client.
func (b *bench) run(ctx context.Context) (size results.BenchSize, err error) {
	size = results.BenchSize{Kind: b.kind.Kind, Count: b.count, Budgets: b.kind.budgets()}
	if size.Operator, err = b.in(ctx, "operator", operatorUser, b.measureOperator); err != nil {
		return size, fmt.Errorf("the operator: %w", err)
	}
	if size.Ideal, err = b.in(ctx, "ideal", idealUser, b.measureIdeal); err != nil {
		return size, fmt.Errorf("the ideal client: %w", err)
	}
	return size, nil
}

// costs maps the names of phases to their costs.
type costs = map[string]results.BenchPhase

// in runs the phases in a new env. If they fail, it saves the cluster's logs.
func (b *bench) in(ctx context.Context, name, user string, measure func(context.Context, *env) (costs, error)) (found costs, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.limit(), fmt.Errorf("it took longer than %s", b.limit()))
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	began := time.Now()
	progress := io.Writer(b.reporter)
	if b.results.Kubernetes != "" {
		progress = io.Discard // the paths of the executables were already printed for the first cluster
	}
	e, err := newEnv(ctx, fail, b.kind, b.count, user, progress)
	if err != nil {
		return nil, err
	}
	e.logs = b.artifacts
	b.results.Kubernetes = e.cluster.Version
	b.reporter.Phase("cluster", time.Since(began), "%s for the %s and %d %s", e.cluster.Version, name, b.count, b.kind.Kind)
	defer func() {
		if err != nil {
			err = errors.Join(err, e.cluster.ExportLogs(ctx, filepath.Join(b.artifacts, "cluster")))
		}
		err = errors.Join(err, e.close(ctx))
	}()
	return measure(ctx, e)
}

// step is a phase to run.
type step struct {
	name string
	do   func(context.Context) (*results.BenchPhase, error)
}

func (b *bench) measureOperator(ctx context.Context, e *env) (costs, error) {
	if err := copyFile(b.program, filepath.Join(e.folder(), operatorProgram)); err != nil {
		return nil, err
	}
	if err := e.startOperator(ctx); err != nil {
		return nil, err
	}
	template, err := e.warm(ctx)
	if err != nil {
		return nil, err
	}
	if b.template, err = readTemplate(ctx, e.user, e.kind, template); err != nil {
		return nil, err
	}
	return b.measureAll(ctx, []step{
		{phaseCreate, e.createAll}, {phaseIdle, e.idle}, {phaseScale, e.scaleAll}, {phaseDeleted, e.deleteChildren}, {phaseStart, e.restart},
	})
}

func (b *bench) measureIdeal(ctx context.Context, e *env) (costs, error) {
	if err := e.startIdealClient(ctx, b.template); err != nil {
		return nil, err
	}
	if _, err := e.warm(ctx); err != nil {
		return nil, err
	}
	return b.measureAll(ctx, []step{{phaseCreate, e.createAll}, {phaseScale, e.scaleAll}, {phaseDeleted, e.deleteChildren}})
}

func (b *bench) measureAll(ctx context.Context, steps []step) (costs, error) {
	found := costs{}
	for _, s := range steps {
		began := time.Now()
		p, err := s.do(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		found[s.name] = *p
		b.reporter.Phase(s.name, time.Since(began), "%s requests per resource: %s", each(p.Requests.All(), *p), p.Requests)
	}
	return found, nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o755)
}
