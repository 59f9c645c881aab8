// Package docs tests that the diagram in architecture.md, the links and the list of faults match the code.
package docs

import (
	"errors"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/operator-assay/assay/"

// packages maps paths to the packages of the module, except this one. It reads the files itself instead of running `go
// list`, so that go test knows its inputs and does not reuse an outdated result.
func packages(t *testing.T) map[string]*build.Package {
	t.Helper()
	all := map[string]*build.Package{}
	err := filepath.WalkDir("..", func(folder string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir() || folder == "..":
			return err
		case entry.Name() == "testdata", strings.HasPrefix(entry.Name(), "."), strings.HasPrefix(entry.Name(), "_"):
			return fs.SkipDir
		}
		p, err := build.ImportDir(folder, 0)
		if _, none := errors.AsType[*build.NoGoError](err); none {
			return nil
		}
		all[filepath.ToSlash(strings.TrimPrefix(folder, "../"))] = p
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(all, "docs")
	return all
}

func TestPackagesHaveDocs(t *testing.T) {
	for folder, p := range packages(t) {
		hasDoc := p.Doc != ""
		if len(p.GoFiles) == 0 { // package build does not read the package docs of test files
			for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
				file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
				if err != nil {
					t.Fatal(err)
				}
				hasDoc = hasDoc || file.Doc != nil
			}
		}
		if !hasDoc {
			t.Errorf("package %s has no package doc: describe its purpose above a package clause", folder)
		}
	}
}

// TestDiagramMatchesImports compares the arrows between the harness packages in architecture.md with the imports. A
// subpackage belongs to the box of its parent package.
func TestDiagramMatchesImports(t *testing.T) {
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, chart, _ := strings.Cut(string(text), "subgraph harness")
	chart, _, _ = strings.Cut(chart, "\n    end")
	drawn, imported := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(chart) {
		boxes := strings.Split(line, "-->")
		for i := range len(boxes) - 1 {
			for from := range strings.SplitSeq(boxes[i], "&") {
				for to := range strings.SplitSeq(boxes[i+1], "&") {
					drawn[strings.TrimSpace(from)+" --> "+strings.TrimSpace(to)] = true
				}
			}
		}
	}
	for folder, p := range packages(t) {
		for _, path := range p.Imports {
			from, isHarness := strings.CutPrefix(folder, "harness/")
			to, ours := strings.CutPrefix(path, module+"harness/")
			from, _, _ = strings.Cut(from, "/")
			to, _, _ = strings.Cut(to, "/")
			if isHarness && ours && from != to {
				imported[from+" --> "+to] = true
			}
		}
	}
	for arrow := range imported {
		if !drawn[arrow] {
			t.Errorf("architecture.md has no arrow %s: add it", arrow)
		}
	}
	for arrow := range drawn {
		if !imported[arrow] {
			t.Errorf("architecture.md has an arrow %s without an import: remove it", arrow)
		}
	}
}
