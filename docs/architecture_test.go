// Package docs tests the documentation: the diagram in architecture.md, the links and the list of faults.
package docs

import (
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/operator-assay/assay/"

// TestDiagramMatchesImports compares the arrows between the harness packages in architecture.md with the imports. A
// subpackage counts as its parent package, whether it imports or is imported.
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
	folders, err := filepath.Glob("../harness/*")
	if err != nil {
		t.Fatal(err)
	}
	nested, err := filepath.Glob("../harness/*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range append(folders, nested...) {
		from := strings.Split(filepath.ToSlash(folder), "/")[2]
		p, _ := build.ImportDir(folder, 0) // the error says that the folder has no Go files
		for _, path := range p.Imports {
			to, ours := strings.CutPrefix(path, module+"harness/")
			if to, _, _ = strings.Cut(to, "/"); ours && from != to {
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
