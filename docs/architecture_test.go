// Package docs tests that the documents match the code: the diagram in architecture.md, the links and the list of
// faults.
package docs

import (
	"errors"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/operator-assay/assay/"

// packages returns all packages of the module by path, except for this one. It reads them directly instead of running
// `go list`, so that go test knows the input files and does not reuse an outdated result.
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

// arrow means that a package in the box from imports a package in the box to. A box is a node or a subgraph of the
// diagram.
type arrow struct{ from, to string }

func (a arrow) String() string { return a.from + " → " + a.to }

type picture struct {
	// boxes contains the paths of the nodes and subgraphs. A path that ends in .go stands for the package in that
	// directory, without the packages below it.
	boxes      []string
	containers map[string]bool // boxes that contain other boxes
	arrows     map[arrow]bool
}

// TestDiagramMatchesImports compares the arrows in architecture.md with the imports of the code. If a package contains
// only tests, it uses the imports of the tests.
func TestDiagramMatchesImports(t *testing.T) {
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := parse(string(text))
	if err != nil {
		t.Fatalf("architecture.md: %v", err)
	}
	because := map[arrow]string{}
	used := map[string]bool{}
	for from, p := range packages(t) {
		where := drawn.around(from)
		if len(where) == 0 || drawn.containers[where[len(where)-1]] {
			t.Errorf("architecture.md has no box for package %s: add one", from)
			continue
		}
		used[where[len(where)-1]] = true
		imports := p.Imports
		if len(p.GoFiles) == 0 {
			imports = slices.Concat(p.TestImports, p.XTestImports)
		}
		for _, imported := range imports {
			if to, ours := strings.CutPrefix(imported, module); ours {
				if a, apart := between(where, drawn.around(to)); apart {
					because[a] = fmt.Sprintf("%s imports %s", from, to)
				}
			}
		}
	}
	for a, why := range because {
		if !drawn.arrows[a] {
			t.Errorf("architecture.md has no arrow %s, but %s: add it", a, why)
		}
	}
	for a := range drawn.arrows {
		if because[a] == "" {
			t.Errorf("architecture.md has an arrow %s without an import: remove it", a)
		}
	}
	for _, box := range drawn.boxes {
		if !used[box] && !drawn.containers[box] {
			t.Errorf("architecture.md has a box %s without a package: remove it", box)
		}
	}
}

// around returns the boxes that contain a package, starting with the outermost one.
func (p *picture) around(pkg string) []string {
	var boxes []string
	for _, box := range p.boxes {
		if pkg == box || strings.HasPrefix(pkg, box+"/") || strings.HasSuffix(box, ".go") && pkg == path.Dir(box) {
			boxes = append(boxes, box)
		}
	}
	slices.Sort(boxes) // each box is a prefix of the next one
	return boxes
}

// between returns the arrow for an import between two packages. It connects the outermost boxes that contain only one
// of the two packages. It returns false if there is no such arrow, because one package's boxes contain the other
// package.
func between(from, to []string) (a arrow, apart bool) {
	for len(from) > 0 && len(to) > 0 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	if len(from) == 0 || len(to) == 0 {
		return arrow{}, false
	}
	return arrow{from[0], to[0]}, true
}

var node = regexp.MustCompile(`^(\w+)(?:\["([^"]+)"\])?$`)

// parse parses the only flowchart of a document. It supports only the Mermaid syntax that the document uses. A node or
// a subgraph consists of an ID and an optional label, which is needed if the ID is not the name of the directory. It
// belongs to the subgraph in which it is mentioned first.
func parse(text string) (*picture, error) {
	_, text, found := strings.Cut(text, "```mermaid\nflowchart ")
	chart, _, ended := strings.Cut(text, "\n```")
	if !found || !ended {
		return nil, errors.New("no flowchart found")
	}
	p := &picture{containers: map[string]bool{}, arrows: map[arrow]bool{}}
	byID := map[string]string{}
	var open []string // the subgraphs that have not ended yet
	box := func(text string) (string, error) {
		parts := node.FindStringSubmatch(strings.TrimSpace(text))
		if parts == nil {
			return "", fmt.Errorf("invalid node %q", text)
		}
		id, label := parts[1], parts[2]
		if byID[id] == "" {
			if label == "" {
				label = id
			}
			byID[id] = path.Join(append(slices.Clone(open), label)...)
			p.boxes = append(p.boxes, byID[id])
		}
		return byID[id], nil
	}
	for _, line := range strings.Split(chart, "\n")[1:] {
		line = strings.TrimSpace(line)
		switch opened, opens := strings.CutPrefix(line, "subgraph "); {
		case line == "":
		case opens:
			container, err := box(opened)
			if err != nil {
				return nil, err
			}
			p.containers[container] = true
			open = append(open, strings.TrimPrefix(container, path.Join(open...)+"/"))
		case line == "end" && len(open) > 0:
			open = open[:len(open)-1]
		default:
			if err := p.draw(line, box); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// draw parses a line such as "a & b --> c --> d".
func (p *picture) draw(line string, box func(string) (string, error)) error {
	var tails []string
	for group := range strings.SplitSeq(line, "-->") {
		var heads []string
		for text := range strings.SplitSeq(group, "&") {
			head, err := box(text)
			if err != nil {
				return err
			}
			heads = append(heads, head)
			for _, tail := range tails {
				p.arrows[arrow{tail, head}] = true
			}
		}
		tails = heads
	}
	return nil
}
