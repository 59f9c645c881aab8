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
	"slices"
)

// source is the Go package to mutate, without its tests.
type source struct {
	path     string // the import path
	fset     *token.FileSet
	files    map[string]*ast.File // by absolute path
	text     map[string][]byte
	info     types.Info
	importer types.Importer
}

// load parses and type-checks a package. The types of its dependencies come from the build cache.
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

// parse parses and type-checks the given files, which are keyed by absolute path.
func parse(path string, text map[string][]byte, export importer.Lookup) (s *source, err error) {
	s = &source{path: path, fset: token.NewFileSet(), files: map[string]*ast.File{}, text: text}
	s.importer = importer.ForCompiler(s.fset, "gc", export)
	s.info.Types = map[ast.Expr]types.TypeAndValue{}
	for path, text := range text {
		if s.files[path], err = parser.ParseFile(s.fset, path, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return nil, err
		}
	}
	return s, s.check(s.files, &s.info)
}

func (s *source) check(files map[string]*ast.File, info *types.Info) error {
	config := types.Config{Importer: s.importer}
	_, err := config.Check(s.path, s.fset, slices.Collect(maps.Values(files)), info)
	return err
}

func (s *source) compile(changed map[string][]byte) error {
	files := maps.Clone(s.files)
	for path := range files {
		if text, ok := changed[path]; ok {
			file, err := parser.ParseFile(s.fset, path, text, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			files[path] = file
		}
	}
	return s.check(files, nil)
}

func (s *source) textOf(node ast.Node) string {
	from, to := s.fset.Position(node.Pos()), s.fset.Position(node.End())
	return string(s.text[from.Filename][from.Offset:to.Offset])
}
