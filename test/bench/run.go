package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/operator-assay/assay/test/harness/report"
)

// Settings are what the user asks for.
type Settings struct {
	Kinds     []string
	Counts    []int
	Artifacts string // the folder for results.json and logs
}

// settings reads BENCH_KIND and BENCH_N, each a list with commas.
func settings() (Settings, error) {
	var s Settings
	var err error
	if s.Artifacts, err = filepath.Abs(filepath.Join(root, "_artifacts", "bench")); err != nil {
		return s, err
	}
	for name := range strings.SplitSeq(or(os.Getenv("BENCH_KIND"), "memcached"), ",") {
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
			if most := kinds[name].most; count > most {
				return s, fmt.Errorf("BENCH_N=%d is more than there can be of %s: set %d at the most", count, name, most)
			}
		}
		s.Counts = append(s.Counts, count)
	}
	slices.Sort(s.Counts)
	return s, nil
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// run measures all that is asked for.
func run(ctx context.Context, s Settings, told *report.Report) (*Results, error) {
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
	told.Phase("operator", time.Since(began), "%s", program)
	r := &Results{CPUs: runtime.NumCPU(), Began: began, Exceeded: []string{}}
	for _, name := range s.Kinds {
		for _, count := range s.Counts {
			b := &bench{kind: kinds[name], count: count, program: program, artifacts: s.Artifacts, told: told, results: r}
			size, err := b.run(ctx)
			if err != nil {
				return nil, fmt.Errorf("%d %s: %w", count, name, err)
			}
			r.Sizes = append(r.Sizes, size)
			r.Exceeded = append(r.Exceeded, size.exceeded()...)
		}
	}
	r.Slopes = slopes(r.Sizes)
	return r, r.write(filepath.Join(s.Artifacts, "results.json"))
}

// bench measures one size.
type bench struct {
	kind      kind
	count     int
	program   string
	artifacts string
	told      *report.Report
	results   *Results
	learned   *blueprint
}

// limit is for all that is done on one cluster. It takes a fraction of that.
func (b *bench) limit() time.Duration {
	return 15*time.Minute + time.Duration(b.count)*500*time.Millisecond
}

func (b *bench) run(ctx context.Context) (*Size, error) {
	operator, err := b.in(ctx, "operator", operatorUser, b.measureOperator)
	if err != nil {
		return nil, fmt.Errorf("the operator: %w", err)
	}
	ideal, err := b.in(ctx, "ideal", idealUser, b.measureIdeal)
	if err != nil {
		return nil, fmt.Errorf("the ideal client: %w", err)
	}
	return &Size{Kind: b.kind.Kind, Count: b.count, Operator: operator, Ideal: ideal}, nil
}

// in measures in a world of its own, and keeps the logs if that fails.
func (b *bench) in(ctx context.Context, name, user string, measure func(context.Context, *world) (map[string]*Phase, error)) (found map[string]*Phase, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.limit(), fmt.Errorf("it took longer than %s", b.limit()))
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	began := time.Now()
	w, err := openWorld(ctx, fail, b.kind, b.count, user, b.told)
	if err != nil {
		return nil, err
	}
	w.logs = b.artifacts
	b.results.Kubernetes = w.cluster.Version
	b.told.Phase("cluster", time.Since(began), "%s for the %s and %d %s", w.cluster.Version, name, b.count, b.kind.Kind)
	defer func() {
		if err != nil {
			err = errors.Join(err, w.keepLogs(ctx, filepath.Join(b.artifacts, "cluster")))
		}
		err = errors.Join(err, w.close(ctx))
	}()
	return measure(ctx, w)
}

// step is one of the phases.
type step struct {
	name string
	do   func(context.Context) (*Phase, error)
}

func (b *bench) measureOperator(ctx context.Context, w *world) (map[string]*Phase, error) {
	if err := copyFile(b.program, filepath.Join(w.folder(), operatorProgram)); err != nil {
		return nil, err
	}
	if err := w.startOperator(ctx); err != nil {
		return nil, err
	}
	template, err := w.warm(ctx)
	if err != nil {
		return nil, err
	}
	if b.learned, err = learn(ctx, w.user, w.kind, template); err != nil {
		return nil, err
	}
	return b.measureAll(ctx, []step{
		{phaseCreate, w.createAll}, {phaseIdle, w.idle}, {phaseScale, w.scaleAll}, {phaseDeleted, w.healAll}, {phaseStart, w.restart},
	})
}

func (b *bench) measureIdeal(ctx context.Context, w *world) (map[string]*Phase, error) {
	if err := w.beIdeal(ctx, b.learned); err != nil {
		return nil, err
	}
	if _, err := w.warm(ctx); err != nil {
		return nil, err
	}
	return b.measureAll(ctx, []step{{phaseCreate, w.createAll}, {phaseScale, w.scaleAll}, {phaseDeleted, w.healAll}})
}

func (b *bench) measureAll(ctx context.Context, steps []step) (map[string]*Phase, error) {
	found := map[string]*Phase{}
	for _, s := range steps {
		began := time.Now()
		p, err := s.do(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		found[s.name] = p
		b.told.Phase(s.name, time.Since(began), "%s requests a resource: %s", each(p.Requests.All(), p), p.Requests)
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
