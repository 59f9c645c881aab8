package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

type mutant struct {
	name, diff  string            // the diff consists of the changed lines, marked with - and +
	path        string            // the import path of the package
	file        string            // relative to the working directory
	first, last int               // the lines that it changes
	files       map[string][]byte // the changed files, by absolute path
}

type mutator struct {
	*source
	file, relative string        // the path of the file
	results        *ast.FuncType // of the innermost function
	found          []*mutant
}

// mutants returns every mutant of the package, in source order. Some of them may not compile.
func (s *source) mutants() []*mutant {
	var all []*mutant
	dir, err := os.Getwd()
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		m := &mutator{source: s, file: path, relative: path}
		if short, failed := filepath.Rel(dir, path); err == nil && failed == nil {
			m.relative = filepath.ToSlash(short)
		}
		if !ast.IsGenerated(s.files[path]) {
			m.in(nil, s.files[path])
			all = append(all, m.found...)
		}
	}
	return all
}

func (m *mutator) in(function *ast.FuncType, node ast.Node) {
	outer := m.results
	m.results = function
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				m.in(n.Type, n.Body)
			}
			return false
		case *ast.FuncLit:
			m.in(n.Type, n.Body)
			return false
		case *ast.Field, *ast.ImportSpec: // contains no code
			return false
		}
		m.visit(n)
		return true
	})
	m.results = outer
}

func (m *mutator) visit(node ast.Node) {
	switch n := node.(type) {
	case *ast.IfStmt:
		m.condition(n.Cond)
	case *ast.CaseClause:
		m.dropStatements(n.Body)
		for _, condition := range n.List {
			if basic, ok := m.info.TypeOf(condition).(*types.Basic); ok && basic.Info()&types.IsBoolean != 0 {
				m.condition(condition)
			}
		}
	case *ast.BlockStmt:
		m.dropStatements(n.List)
	case *ast.ForStmt:
		if n.Cond != nil {
			m.replace(n.Cond, "loop", "false && ("+m.textOf(n.Cond)+")")
		}
	case *ast.RangeStmt:
		m.change(n.Body.Lbrace+1, n.Body.Lbrace+1, "loop", " break;")
	case *ast.BinaryExpr:
		m.binary(n)
	case *ast.ReturnStmt:
		if len(n.Results) > 0 {
			m.returned(n)
		}
	case *ast.CallExpr:
		m.call(n)
	case *ast.CompositeLit:
		m.literal(n)
	case *ast.BasicLit:
		m.constant(n)
	case *ast.Ident:
		if n.Name == "true" || n.Name == "false" {
			m.replace(n, "constant", strconv.FormatBool(n.Name == "false"))
		}
	}
}

// condition makes a condition always true or always false. The mutant still contains the original condition, so that
// its variables and imports remain used.
func (m *mutator) condition(condition ast.Expr) {
	m.replace(condition, "condition", "true || ("+m.textOf(condition)+")")
	m.replace(condition, "condition", "false && ("+m.textOf(condition)+")")
}

func (m *mutator) dropStatements(list []ast.Stmt) {
	for _, statement := range list {
		switch s := statement.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.ReturnStmt:
			if len(s.Results) > 0 {
				continue
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt, *ast.BranchStmt:
		default:
			continue
		}
		m.replace(statement, "statement", "if false { "+m.textOf(statement)+" }")
	}
}

var boundaries = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.ADD: "-", token.SUB: "+",
}

func (m *mutator) binary(b *ast.BinaryExpr) {
	switch b.Op {
	case token.LAND:
		m.replace(b.X, "logic", "(true || "+m.textOf(b.X)+")")
		m.replace(b.Y, "logic", "(true || "+m.textOf(b.Y)+")")
	case token.LOR:
		m.replace(b.X, "logic", "(false && ("+m.textOf(b.X)+"))")
		m.replace(b.Y, "logic", "(false && ("+m.textOf(b.Y)+"))")
	default:
		operator := boundaries[b.Op]
		if basic, ok := m.info.TypeOf(b.X).Underlying().(*types.Basic); operator == "" || ok && basic.Info()&types.IsString != 0 && b.Op == token.ADD {
			return
		}
		m.replace(b, "operator", m.textOf(b.X)+" "+operator+" "+m.textOf(b.Y))
	}
}

// returned changes one result at a time: a bool to true or false, and any other result to its zero value.
// If a single call returns several results, it replaces all of them with their zero values.
func (m *mutator) returned(r *ast.ReturnStmt) {
	var kinds, zeros []string
	for _, field := range m.results.Results.List {
		for range max(len(field.Names), 1) {
			kinds = append(kinds, m.textOf(field.Type))
			zeros = append(zeros, "*new("+m.textOf(field.Type)+")")
		}
	}
	if len(r.Results) == 1 && len(kinds) > 1 { // returns all results of a call
		m.replace(r, "return", "return "+strings.Join(zeros, ", "))
		return
	}
	for i, result := range r.Results {
		switch text := m.textOf(result); {
		case slices.Contains([]string{"true", "false", "nil", "0", `""`, kinds[i] + "{}"}, text):
		case kinds[i] == "bool":
			m.replace(result, "return", "true")
			m.replace(result, "return", "false")
		default:
			m.replace(result, "return", zeros[i])
		}
	}
}

// call removes one call from a chain such as builder.For(x).Watches(y), or one variadic argument.
func (m *mutator) call(c *ast.CallExpr) {
	if selector, ok := c.Fun.(*ast.SelectorExpr); ok {
		receiver := m.info.Types[selector.X]
		if receiver.IsValue() && types.Identical(receiver.Type, m.info.TypeOf(c)) {
			m.replace(c, "call", m.textOf(selector.X))
		}
	}
	signature, ok := m.info.TypeOf(c.Fun).(*types.Signature)
	if !ok || !signature.Variadic() || c.Ellipsis.IsValid() {
		return
	}
	last := signature.Params().Len() - 1
	if slice, ok := signature.Params().At(last).Type().(*types.Slice); ok && slice.Elem().String() != "any" { // keep the arguments of a format string
		m.dropEach(c.Args[min(last, len(c.Args)):], "argument")
	}
}

// literal removes the elements of a struct, map or slice literal, one at a time.
func (m *mutator) literal(l *ast.CompositeLit) {
	if _, ok := m.info.TypeOf(l).Underlying().(*types.Struct); ok && len(l.Elts) > 0 {
		if _, keyed := l.Elts[0].(*ast.KeyValueExpr); !keyed {
			return
		}
	}
	m.dropEach(l.Elts, "element")
}

// dropEach removes the elements of a list one at a time, each with the comma after it.
func (m *mutator) dropEach(list []ast.Expr, operator string) {
	for _, element := range list {
		end := element.End()
		if m.text[m.file][m.offset(end)] == ',' {
			end++
		}
		m.change(element.Pos(), end, operator, "")
	}
}

// constant replaces a number with a different one, and a string with an empty one. A duration becomes 0, because adding a
// nanosecond would rarely make a test fail.
func (m *mutator) constant(l *ast.BasicLit) {
	switch l.Kind {
	case token.STRING:
		if l.Value != `""` {
			m.replace(l, "constant", `""`)
		}
	case token.INT, token.FLOAT:
		switch {
		case strings.HasSuffix(m.info.TypeOf(l).String(), "time.Duration"):
			m.replace(l, "constant", "0")
		case l.Value == "0":
			m.replace(l, "constant", "1")
		default:
			m.replace(l, "constant", "("+l.Value+" + 1)")
		}
	}
}

func (m *mutator) offset(pos token.Pos) int { return m.fset.Position(pos).Offset }

func (m *mutator) replace(node ast.Node, operator, text string) {
	if m.textOf(node) != text {
		m.change(node.Pos(), node.End(), operator, text)
	}
}

func (m *mutator) change(from, to token.Pos, operator, text string) {
	old, start, end := string(m.text[m.file]), m.offset(from), m.offset(to)
	after, _, _ := strings.Cut(old[end:], "\n")
	before := old[strings.LastIndex(old[:start], "\n")+1 : start]
	marked := func(mark, lines string) string { return mark + strings.ReplaceAll(lines, "\n", "\n"+mark) + "\n" }
	m.found = append(m.found, &mutant{
		name: fmt.Sprintf("%s:%d %s #%d", m.relative, m.fset.Position(from).Line, operator, len(m.found)+1),
		diff: marked("-", before+old[start:end]+after) + marked("+", before+text+after),
		path: m.path, file: m.relative, first: m.fset.Position(from).Line, last: m.fset.Position(to).Line,
		files: map[string][]byte{m.file: []byte(old[:start] + text + old[end:])},
	})
}
