package invent

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// source is a program whose mutants are invented.
type source struct {
	root     string
	fileSet  *token.FileSet
	packages []*packages.Package
	files    []*file
}

// file is one of its files, unless that is generated.
type file struct {
	name string // from the root
	text []byte
	tree *ast.File
	pkg  *packages.Package
}

// load reads and type-checks the packages below a folder of the module at root, without their tests.
func load(root, folder string) (*source, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	s := &source{root: root, fileSet: token.NewFileSet()}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax | packages.NeedExportFile,
		Dir: root, Fset: s.fileSet,
	}, "./"+folder+"/...")
	if err != nil {
		return nil, err
	}
	s.packages = loaded
	for _, pkg := range loaded {
		for _, broken := range pkg.Errors {
			return nil, fmt.Errorf("%s does not compile: %w", pkg.PkgPath, broken)
		}
		for _, tree := range pkg.Syntax {
			path := s.fileSet.Position(tree.Package).Filename
			if ast.IsGenerated(tree) {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return nil, err
			}
			s.files = append(s.files, &file{filepath.ToSlash(name), text, tree, pkg})
		}
	}
	slices.SortFunc(s.files, func(a, b *file) int { return strings.Compare(a.name, b.name) })
	return s, nil
}

// offset is a position's in its file.
func (s *source) offset(pos token.Pos) int { return s.fileSet.Position(pos).Offset }

// edit replaces a part of a file.
type edit struct {
	file     *file
	from, to int
	text     string
}

// apply makes edits of one file, which do not overlap, in the part of its text from one offset to another.
func apply(f *file, from, to int, edits []edit) []byte {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out bytes.Buffer
	for _, e := range edits {
		if e.file != f || e.from < from || e.to > to {
			continue
		}
		out.Write(f.text[from:e.from])
		out.WriteString(e.text)
		from = e.to
	}
	out.Write(f.text[from:to])
	return out.Bytes()
}

// What the type checker says of a variable, and of a package, whose last use was dropped.
var (
	unused       = regexp.MustCompile(`^declared and not used: (\w+)$`)
	unusedImport = regexp.MustCompile(`^".*" imported (as \w+ )?and not used$`)
)

// compiles tells whether the program with these edits does, but for variables that they have left without a use.
func (s *source) compiles(edits []edit) (without []string, ok bool) {
	for _, pkg := range s.packages {
		touched := slices.ContainsFunc(edits, func(e edit) bool { return e.file.pkg == pkg })
		if !touched {
			continue
		}
		var trees []*ast.File
		for _, tree := range pkg.Syntax {
			i := slices.IndexFunc(edits, func(e edit) bool { return e.file.tree == tree })
			if i >= 0 {
				f := edits[i].file
				var err error
				tree, err = parser.ParseFile(s.fileSet, filepath.Join(s.root, f.name), apply(f, 0, len(f.text), edits), parser.SkipObjectResolution)
				if err != nil {
					return nil, false
				}
			}
			trees = append(trees, tree)
		}
		failed := false
		check := types.Config{
			Importer: importerOf{pkg},
			Error: func(err error) {
				wrong, _ := errors.AsType[types.Error](err) // which is the only type there is
				said := wrong.Msg
				if match := unused.FindStringSubmatch(said); match != nil {
					without = append(without, match[1])
				} else if !unusedImport.MatchString(said) { // the function as it is uses it
					failed = true
				}
			},
		}
		_, _ = check.Check(pkg.PkgPath, s.fileSet, trees, nil)
		if failed {
			return nil, false
		}
	}
	return without, true
}

// importerOf gives the packages that one imports, as they were loaded.
type importerOf struct{ pkg *packages.Package }

func (i importerOf) Import(path string) (*types.Package, error) {
	if imported := i.pkg.Imports[path]; imported != nil && imported.Types != nil {
		return imported.Types, nil
	}
	return nil, fmt.Errorf("%s does not import %s", i.pkg.PkgPath, path)
}
