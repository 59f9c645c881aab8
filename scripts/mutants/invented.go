package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/operator-assay/assay/harness/terminal"
	"github.com/operator-assay/assay/scripts/mutants/invent"
)

// options are what the environment decides of a trial.
type options struct {
	focus *regexp.Regexp
	since changes
	procs int
	// most is by how many specs each mutant is tried; 0 is all that reach it.
	most int
	// unitsOnly leaves out what needs a control plane.
	unitsOnly bool
	// folder has the code that is changed, and tests are the packages whose tests, without a control plane, try that. Without
	// any, no code is changed.
	folder string
	tests  []string
	// manifests tells whether those of manifestFolder are changed.
	manifests bool
	// accepted are the names of mutants that nobody can notice, and why.
	accepted map[string]string
}

// invention is a trial of invented mutants, all of which are in the programs that try them.
type invention struct {
	shop    *workshop
	bench   *bench
	mutants []invent.Mutant
	fates   map[int]*fate // by the mutant's number
	options
	told    *teller
	noticed atomic.Int64 // mutants
	mu      sync.Mutex   // of the fates, and of what follows
	unsound []string     // what is to be told of tests that a mutant left broken
}

// fate is what became of an invented mutant.
type fate struct {
	mutant invent.Mutant
	// reachedBy are the tests and specs that run its statement.
	units, specs []string
	// killedBy is the first test that noticed it, and message what that said; see kill.
	killedBy, message string
	took              time.Duration
	accepted          string // why nobody can notice it
}

func (f *fate) killed() bool { return f.killedBy != "" }

// reached tells whether any test runs what it changes.
func (f *fate) reached() bool { return len(f.units)+len(f.specs) > 0 }

// newInvention invents the mutants that match. Those of code are all compiled into a copy of the module.
func newInvention(shop *workshop, o options, told *teller) (*invention, error) {
	wanted := func(m invent.Mutant) bool { return o.focus.MatchString(m.String()) && o.since.include(m.File, m.Line) }
	in := &invention{shop: shop, bench: &bench{dir: filepath.Join(shop.dir, "invented"), shop: shop, overlay: map[string]string{}},
		fates: map[int]*fate{}, options: o, told: told}
	if err := os.MkdirAll(in.bench.dir, 0o755); err != nil {
		return nil, err
	}
	if len(o.tests) > 0 {
		if err := in.compose(wanted); err != nil {
			return nil, err
		}
	}
	if o.manifests {
		more, err := invent.Manifests(shop.module(), manifestFolder, len(in.mutants)+1, wanted)
		if err != nil {
			return nil, err
		}
		in.mutants = append(in.mutants, more...)
	}
	for _, m := range in.mutants {
		in.fates[m.Number] = &fate{mutant: m, accepted: o.accepted[m.Name()]}
	}
	return in, nil
}

// compose invents the mutants of code, and lays the program that has all of them over the module.
func (in *invention) compose(wanted func(invent.Mutant) bool) error {
	root := in.shop.module()
	program, err := invent.Of(root, in.folder, wanted)
	if err != nil {
		return err
	}
	in.mutants = program.Mutants
	module, err := moduleName(root)
	if err != nil {
		return err
	}
	files := program.Compose(module)
	for _, tests := range in.tests {
		name, text, err := runnerOf(root, module, tests)
		if err != nil {
			return err
		}
		files[name] = text
	}
	for name, text := range files {
		file := filepath.Join(in.bench.dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644)); err != nil {
			return err
		}
		in.bench.overlay[filepath.Join(root, filepath.FromSlash(name))] = file
	}
	return nil
}

// moduleName is what the module's go.mod calls it.
func moduleName(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	return modfile.ModulePath(text), nil
}

// try tries the mutants: those of code on the tests without a control plane, then who has survived them on the specs; and
// those of manifests.
func (in *invention) try(ctx context.Context) error {
	if slices.ContainsFunc(in.mutants, isManifest) {
		if err := in.tryManifests(ctx); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(in.mutants, func(m invent.Mutant) bool { return !isManifest(m) }) {
		return nil
	}
	if err := in.tryUnits(ctx); err != nil {
		return err
	}
	if in.unitsOnly || len(in.aliveCode()) == 0 {
		return nil
	}
	return in.trySpecs(ctx)
}

// parallel calls a function for a share of the mutants each, as many at a time as PROCS says.
func (in *invention) parallel(all []*fate, do func(i int, share []*fate) error) error {
	failed := make([]error, in.procs)
	var workers sync.WaitGroup
	for i := range in.procs {
		var share []*fate
		for n := i; n < len(all); n += in.procs {
			share = append(share, all[n])
		}
		workers.Go(func() { failed[i] = do(i, share) })
	}
	workers.Wait()
	return errors.Join(failed...)
}

// kill notes the first test that notices a mutant, and what it said.
func (in *invention) kill(f *fate, by, message string) {
	if !f.killed() {
		in.noticed.Add(1)
		f.killedBy, f.message = by, message
	}
}

// progress tells, until stop is called, how many mutants are noticed by now, and what tries them.
func (in *invention) progress(tests string) (stop func()) {
	return terminal.NewLog("mutants", in.told.out).During(func() string {
		return fmt.Sprintf("%d of %d noticed, %s", in.noticed.Load(), len(in.mutants), tests)
	})
}

// alive are the mutants that are still to be tried: nobody has noticed them yet. The accepted ones of a change are not, since
// each of them would meet every test that reaches it.
func (in *invention) alive() []*fate {
	var alive []*fate
	for _, m := range in.mutants {
		if f := in.fates[m.Number]; !f.killed() && (f.accepted == "" || in.since == nil) {
			alive = append(alive, f)
		}
	}
	return alive
}

// aliveCode are those of them that are not of manifests.
func (in *invention) aliveCode() []*fate {
	return slices.DeleteFunc(in.alive(), func(f *fate) bool { return isManifest(f.mutant) })
}

// changes are the lines that differ from a revision, by file; nil when all count.
type changes map[string][][2]int

func (c changes) include(file string, line int) bool {
	return c == nil || slices.ContainsFunc(c[file], func(lines [2]int) bool { return lines[0] <= line && line <= lines[1] })
}

var (
	newFile = regexp.MustCompile(`^\+\+\+ b/(.*)$`)
	hunk    = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)
)

// changesSince asks git for them. An empty revision is none: all lines count.
func changesSince(ctx context.Context, revision, folder string) (changes, error) {
	if revision == "" {
		return nil, nil
	}
	out, err := command(ctx, "git", "diff", "--unified=0", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", revision, "--", folder).Output()
	if err != nil {
		return nil, fmt.Errorf("SINCE=%s: git cannot compare with it: %w", revision, err)
	}
	found, file := changes{}, ""
	for line := range strings.SplitSeq(string(out), "\n") {
		if match := newFile.FindStringSubmatch(line); match != nil {
			file = match[1]
		} else if match := hunk.FindStringSubmatch(line); match != nil {
			first, _ := strconv.Atoi(match[1]) // the expression has digits only
			count := 1
			if match[2] != "" {
				count, _ = strconv.Atoi(match[2])
			}
			found[file] = append(found[file], [2]int{first, first + count - 1})
		}
	}
	return found, nil
}
