package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operator-assay/assay/scripts/mutants/invent"
	"github.com/operator-assay/assay/test/fixtures/mutants"
)

// manifestFolder has the manifests that are mutated.
const manifestFolder = "operator/config"

// manifestLimit is far beyond what these tests take that need no control plane.
const manifestLimit = time.Minute

// manifestTests are what tries a manifest's mutants, the cheapest first: the tests of a suite that match an expression.
var manifestTests = []struct {
	suite
	tests string
}{
	{suite{mutants.Unit, "test/manifests", goArguments, "-test.failfast", "-test.timeout", manifestLimit, readGo}, "."},
	{suite{mutants.Unit, "operator", goArguments, "-test.failfast", "-test.timeout", manifestLimit, readGo}, "^TestTheDeployment"},
	{suite{mutants.Unit, "operator/controller", goArguments, "-test.failfast", "-test.timeout", manifestLimit, readGo}, "^TestTheOperatorKnowsTheKinds"},
	{suite{mutants.Integration, "test/integration", ginkgoArguments, "-ginkgo.fail-fast", "-ginkgo.timeout", limit, readGinkgo},
		"^Integration (The surface|The contract|The sample|The scale subresource|The operator's binary|A whole number)"},
}

// fromDisk takes the place of operator/config/config.go, so that a program reads the manifests of the bench on which it
// runs, and need not be built for each mutant.
const fromDisk = `package config

import (
	"io/fs"
	"os"
)

type folder struct{ fs.FS }

func (f folder) ReadFile(name string) ([]byte, error) { return fs.ReadFile(f.FS, name) }

var (
	CRDs            = folder{os.DirFS(os.Getenv("MANIFESTS"))}
	Role            = read("rbac/role.yaml")
	WebServerSample = read("samples/my_v1_webserver.yaml")
	MemcachedSample = read("samples/cache_v1alpha1_memcached.yaml")
)

func read(name string) []byte {
	text, err := CRDs.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return text
}
`

// tryManifests tries the mutants of manifests, each in a copy of the module, until a test fails.
func (in *invention) tryManifests(ctx context.Context) error {
	config := filepath.Join(in.bench.dir, "config.go")
	if err := os.WriteFile(config, []byte(fromDisk), 0o644); err != nil {
		return err
	}
	reading := &bench{dir: in.bench.dir, shop: in.shop, overlay: map[string]string{filepath.Join(in.shop.module(), manifestFolder, "config.go"): config}}
	benches := make([]*bench, in.procs)
	for i := range benches {
		benches[i] = &bench{dir: filepath.Join(in.shop.dir, fmt.Sprintf("manifests-%d", i)), shop: in.shop}
		if err := copyModule(benches[i].dir, in.shop.module()); err != nil {
			return err
		}
	}
	for _, by := range manifestTests {
		alive := slices.DeleteFunc(in.alive(), func(f *fate) bool { return !isManifest(f.mutant) })
		if by.name != mutants.Unit && in.unitsOnly || len(alive) == 0 {
			continue
		}
		begin := time.Now()
		program, err := reading.build(ctx, by.pkg)
		if err != nil {
			return err
		}
		came, err := by.play(ctx, benches[0], program, by.tests, "")
		if err != nil {
			return err
		}
		if len(came.failed) > 0 {
			return fmt.Errorf("%s fails without any mutant, so its failures prove nothing: make it pass first: %s", by.pkg, came.failed[0])
		}
		if len(came.passed) == 0 {
			return fmt.Errorf("%s has no test that matches %q", by.pkg, by.tests)
		}
		in.told.baseline(by.pkg, fmt.Sprintf("%d tests", len(came.passed)), time.Since(begin))
		stop := in.progress(by.pkg)
		err = in.parallel(alive, func(i int, share []*fate) error {
			for _, f := range share {
				if err := in.tryManifest(ctx, benches[i], f, func() (outcome, error) {
					return by.play(ctx, benches[i], program, by.tests, "", by.toTheFirst)
				}); err != nil {
					return err
				}
				f.units = append(f.units, fmt.Sprintf("%s, %d tests", by.pkg, len(came.passed)))
			}
			return nil
		})
		if stop(); err != nil {
			return err
		}
	}
	return nil
}

// tryManifest plays tests where one file is a mutant's, and puts the file back as it was.
func (in *invention) tryManifest(ctx context.Context, b *bench, f *fate, play func() (outcome, error)) error {
	begin, file := time.Now(), filepath.Join(b.dir, f.mutant.File)
	was, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, f.mutant.Text(), 0o644); err != nil {
		return err
	}
	came, err := play()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case len(came.failed) > 0:
		in.kill(f, came.failed[0].name, came.failed[0].complaint)
	case err != nil: // what reads the manifests has panicked, and there is no such failure without the mutant
		in.kill(f, "a panic", err.Error())
	}
	f.took += time.Since(begin)
	return os.WriteFile(file, was, 0o644)
}

func isManifest(m invent.Mutant) bool { return strings.HasSuffix(m.File, ".yaml") }
