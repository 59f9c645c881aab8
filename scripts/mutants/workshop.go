package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/operator-assay/assay/test/fixtures/mutants"
)

// workshop is a folder with a copy of the module, which stays as it is while somebody goes on editing
// the original: all mutants are of one operator, and are tried by the tests that it was found to pass.
type workshop struct {
	dir  string
	lock *flock.Flock
}

// parts are what tests need of the module.
var parts = []string{"operator", "test"}

func openWorkshop(module, dir string) (*workshop, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	shop := &workshop{dir: dir, lock: flock.New(dir + ".lock")}
	free, err := shop.lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, fmt.Errorf("mutants are being tried in %s already: wait for that run, or end it", dir)
	}
	return shop, errors.Join(os.RemoveAll(dir), copyModule(shop.module(), module))
}

func (w *workshop) close() { _ = w.lock.Unlock() }

// module is the copy of the module that nobody changes. Its place is always the same, so that Go compiles
// what is not mutated once and for all.
func (w *workshop) module() string { return filepath.Join(w.dir, "module") }

func (w *workshop) operator() fs.FS { return os.DirFS(filepath.Join(w.module(), "operator")) }

func copyModule(to, from string) error {
	for _, part := range parts {
		if err := os.CopyFS(filepath.Join(to, part), os.DirFS(filepath.Join(from, part))); err != nil {
			return err
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "Makefile", "README.md", "scripts/tools/go.mod"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return fmt.Errorf("run this in the module's root: %w", err)
		}
		file := filepath.Join(to, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// bench is a copy of the module in which one mutant is tried. Tests run there and not in the original,
// because they read manifests, build the operator and leave evidence where they are.
type bench struct {
	dir     string
	shop    *workshop
	overlay map[string]string // from the untouched module's files to the mutant's
}

// bench makes a place to try a mutant in.
func (w *workshop) bench(mutant mutants.Mutant) (*bench, error) {
	b := &bench{dir: filepath.Join(w.dir, mutant.Class+"-"+mutant.Name), shop: w, overlay: map[string]string{}}
	if err := copyModule(b.dir, w.module()); err != nil {
		return nil, err
	}
	files, err := mutant.Apply(w.operator())
	if err != nil {
		return nil, err
	}
	for file, text := range files {
		mutated := filepath.Join(b.dir, "operator", file)
		if err := os.WriteFile(mutated, []byte(text), 0o644); err != nil {
			return nil, err
		}
		b.overlay[filepath.Join(w.module(), "operator", file)] = mutated
	}
	return b, nil
}

// pristine is the bench without a mutant.
func (w *workshop) pristine() *bench { return &bench{dir: w.module(), shop: w} }

// build compiles the tests of a package, and returns the program that they are. It compiles the untouched
// module with the mutant's files laid over it, so that only what imports these is compiled anew.
func (b *bench) build(ctx context.Context, pkg string) (string, error) {
	program := filepath.Join(b.dir, strings.ReplaceAll(pkg, "/", "-")+".test")
	overlay, err := json.Marshal(map[string]any{"Replace": b.overlay})
	if err != nil {
		return "", err
	}
	overlayFile := filepath.Join(b.dir, "overlay.json")
	if err := os.WriteFile(overlayFile, overlay, 0o644); err != nil {
		return "", err
	}
	compile := command(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlayFile, "-o", program, "./"+pkg)
	compile.Dir = b.shop.module()
	compile.Cancel = func() error { return syscall.Kill(-compile.Process.Pid, syscall.SIGINT) } // its compilers, too
	if out, err := compile.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", pkg, err, strings.TrimSpace(string(out)))
	}
	return program, nil
}

// clear takes the mutant away.
func (b *bench) clear() error { return os.RemoveAll(b.dir) }

// patience is how long a test that was interrupted may take to stop its control plane.
const patience = time.Minute

// command prepares a program that is interrupted when ctx ends, once: it is out of the terminal's reach,
// because a suite that Ctrl-C interrupts a second time does not clean up.
func command(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, arguments...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = patience
	return c
}
