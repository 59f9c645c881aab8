package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
)

// source is a Go package that is mutated, without its tests.
type source struct {
	path     string // the import path
	fset     *token.FileSet
	files    map[string]*ast.File // by absolute path
	text     map[string][]byte
	info     types.Info
	importer types.Importer
}

// load parses and type-checks a package, which a relative path such as ./operator names. The types of its dependencies
// come from the build cache.
func load(ctx context.Context, pattern string) (*source, error) {
	list := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,DepOnly", pattern)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list package %s: %w", pattern, err)
	}
	path, text, exports := "", map[string][]byte{}, map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var listed struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
			DepOnly                 bool
		}
		if err := decoder.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[listed.ImportPath] = listed.Export
		if listed.DepOnly {
			continue
		}
		path = listed.ImportPath
		for _, name := range listed.GoFiles {
			file := filepath.Join(listed.Dir, name)
			if text[file], err = os.ReadFile(file); err != nil {
				return nil, err
			}
		}
	}
	return parse(path, text, func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

// parse returns a package with the given files, by absolute path.
func parse(path string, text map[string][]byte, export importer.Lookup) (s *source, err error) {
	s = &source{path: path, fset: token.NewFileSet(), files: map[string]*ast.File{}, text: text}
	s.importer = importer.ForCompiler(s.fset, "gc", export)
	s.info = types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	for path, text := range text {
		if s.files[path], err = parser.ParseFile(s.fset, path, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return nil, err
		}
	}
	if failed := s.check(s.files, &s.info); len(failed) > 0 {
		return nil, failed[0]
	}
	return s, nil
}

func (s *source) check(files map[string]*ast.File, info *types.Info) []types.Error {
	var failed []types.Error
	config := types.Config{Importer: s.importer, Error: func(err error) { failed = append(failed, err.(types.Error)) }}
	all := make([]*ast.File, 0, len(files))
	for _, file := range files {
		all = append(all, file)
	}
	_, _ = config.Check(s.path, s.fset, all, info) // the errors are collected
	return failed
}

// compile returns the changed files with uses of everything that the change made unused. It returns an error if they
// do not compile.
func (s *source) compile(changed map[string][]byte) (map[string][]byte, error) {
	for range 3 {
		files := map[string]*ast.File{}
		for path, file := range s.files {
			files[path] = file
			if text, ok := changed[path]; ok {
				parsed, err := parser.ParseFile(s.fset, path, text, parser.SkipObjectResolution)
				if err != nil {
					return nil, err
				}
				files[path] = parsed
			}
		}
		failed := s.check(files, nil)
		if len(failed) == 0 {
			return changed, nil
		}
		for _, err := range failed {
			if !err.Soft {
				return nil, err
			}
		}
		first := failed[0] // the offsets of the others may move
		position := s.fset.Position(first.Pos)
		text, ok := changed[position.Filename]
		if !ok {
			return nil, first
		}
		fixed, ok := use(files[position.Filename], text, first, s.fset)
		if !ok {
			return nil, first
		}
		changed = maps.Clone(changed)
		changed[position.Filename] = fixed
	}
	return nil, errors.New("too much of it is unused")
}

var unusedVariable = regexp.MustCompile(`declared and not used: (\w+)`)

// use returns the text with a use of what the type checker found unused: an import or a variable.
func use(file *ast.File, text []byte, unused types.Error, fset *token.FileSet) ([]byte, bool) {
	offset := func(pos token.Pos) int { return fset.Position(pos).Offset }
	for _, spec := range file.Imports {
		if spec.Pos() <= unused.Pos && unused.Pos < spec.End() {
			return slices.Concat(text[:offset(spec.Pos())], []byte("_ "), text[offset(spec.Path.Pos()):]), true
		}
	}
	name := unusedVariable.FindStringSubmatch(unused.Msg)
	if name == nil {
		return nil, false
	}
	var declaration ast.Stmt // the innermost one in a list of statements
	ast.Inspect(file, func(node ast.Node) bool {
		for _, statement := range statementsOf(node) {
			if statement.Pos() <= unused.Pos && unused.Pos < statement.End() {
				declaration = statement
			}
		}
		return true
	})
	if declaration == nil {
		return nil, false
	}
	end := offset(declaration.End())
	return slices.Concat(text[:end], []byte("; _ = "+name[1]), text[end:]), true
}

// statementsOf returns the statements of a block or clause.
func statementsOf(node ast.Node) []ast.Stmt {
	switch node := node.(type) {
	case *ast.BlockStmt:
		return node.List
	case *ast.CaseClause:
		return node.Body
	case *ast.CommClause:
		return node.Body
	default:
		return nil
	}
}

// textOf returns the source text of a node.
func (s *source) textOf(node ast.Node) string {
	from, to := s.fset.Position(node.Pos()), s.fset.Position(node.End())
	return string(s.text[from.Filename][from.Offset:to.Offset])
}

// zero returns the zero value of a type, which the file writes in the given way.
func (s *source) zero(t types.Type, written string) string {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0:
			return "false"
		case u.Info()&types.IsString != 0:
			return `""`
		default:
			return "0"
		}
	case *types.Struct, *types.Array:
		return written + "{}"
	default:
		if _, generic := t.(*types.TypeParam); generic {
			return "*new(" + written + ")"
		}
		return "nil"
	}
}
