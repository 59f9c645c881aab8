// Package docs checks what can be checked of the documents: that their picture is the code's, that their
// links lead somewhere, and that what they say can be made and can go wrong is what can.
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

// module begins the import paths of this repository.
const module = "github.com/operator-assay/assay/"

// packages are the module's, by their paths in this repository, without this one, which imports nothing and
// which nothing imports. They are read here, and not by `go list`, so that go test knows what its result
// depends on and does not take an old one for it.
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

func TestEveryPackageSaysWhyItIsThere(t *testing.T) {
	for folder, p := range packages(t) {
		said := p.Doc != ""
		if len(p.GoFiles) == 0 { // what tests say is no doc to package build
			for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
				file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
				if err != nil {
					t.Fatal(err)
				}
				said = said || file.Doc != nil
			}
		}
		if !said {
			t.Errorf("%s has no package doc: say above a package clause why it is there", folder)
		}
	}
}

// arrow is an import of a room by another.
type arrow struct{ from, to string }

func (a arrow) String() string { return a.from + " → " + a.to }

// picture is what a document draws.
type picture struct {
	// rooms are paths in this repository. One that ends in .go is the folder's own package, without those
	// below it.
	rooms  []string
	walls  map[string]bool // rooms that others are drawn in
	arrows map[arrow]bool
}

// TestThePictureIsTheCode compares the arrows of architecture.md with the imports of the code, and of the
// tests where a package has nothing else.
func TestThePictureIsTheCode(t *testing.T) {
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := parse(string(text))
	if err != nil {
		t.Fatalf("architecture.md: %v", err)
	}
	because := map[arrow]string{}
	inhabited := map[string]bool{}
	for from, p := range packages(t) {
		where := drawn.around(from)
		if len(where) == 0 || drawn.walls[where[len(where)-1]] {
			t.Errorf("%s is in no room of architecture.md: draw one", from)
			continue
		}
		inhabited[where[len(where)-1]] = true
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
			t.Errorf("architecture.md lacks the arrow %s: %s", a, why)
		}
	}
	for a := range drawn.arrows {
		if because[a] == "" {
			t.Errorf("architecture.md has the arrow %s, which is no import", a)
		}
	}
	for _, room := range drawn.rooms {
		if !inhabited[room] && !drawn.walls[room] {
			t.Errorf("architecture.md has the room %s, in which there is no package", room)
		}
	}
}

// around are the rooms that a package is in, from the outermost on.
func (p *picture) around(pkg string) []string {
	var rooms []string
	for _, room := range p.rooms {
		if pkg == room || strings.HasPrefix(pkg, room+"/") || strings.HasSuffix(room, ".go") && pkg == path.Dir(room) {
			rooms = append(rooms, room)
		}
	}
	slices.Sort(rooms) // each is a prefix of the next
	return rooms
}

// between is the arrow of an import: from the outermost room that only the one is in, to the outermost that
// only the other is in. There is none within a room.
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

// parse reads the one flowchart of a document, in as much of Mermaid as it needs: a node or a subgraph is
// an ID and, if that is not its folder's name, a label, and is drawn where it is named first.
func parse(text string) (*picture, error) {
	_, text, found := strings.Cut(text, "```mermaid\nflowchart ")
	chart, _, ended := strings.Cut(text, "\n```")
	if !found || !ended {
		return nil, errors.New("there is no flowchart")
	}
	p := &picture{walls: map[string]bool{}, arrows: map[arrow]bool{}}
	byID := map[string]string{}
	var open []string // the subgraphs that are not ended yet
	room := func(text string) (string, error) {
		parts := node.FindStringSubmatch(strings.TrimSpace(text))
		if parts == nil {
			return "", fmt.Errorf("%q is no node", text)
		}
		id, label := parts[1], parts[2]
		if byID[id] == "" {
			if label == "" {
				label = id
			}
			byID[id] = path.Join(append(slices.Clone(open), label)...)
			p.rooms = append(p.rooms, byID[id])
		}
		return byID[id], nil
	}
	for _, line := range strings.Split(chart, "\n")[1:] {
		line = strings.TrimSpace(line)
		switch opened, opens := strings.CutPrefix(line, "subgraph "); {
		case line == "":
		case opens:
			wall, err := room(opened)
			if err != nil {
				return nil, err
			}
			p.walls[wall] = true
			open = append(open, strings.TrimPrefix(wall, path.Join(open...)+"/"))
		case line == "end" && len(open) > 0:
			open = open[:len(open)-1]
		default:
			if err := p.draw(line, room); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// draw reads a line such as "a & b --> c --> d".
func (p *picture) draw(line string, room func(string) (string, error)) error {
	var tails []string
	for group := range strings.SplitSeq(line, "-->") {
		var heads []string
		for text := range strings.SplitSeq(group, "&") {
			head, err := room(text)
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
