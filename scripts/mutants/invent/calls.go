package invent

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Mutants of what Kubernetes code is made of: chains of builders, fields, options.

// watches are the methods of controller-runtime's builder that have a controller watch something, or not.
var watches = []string{"For", "Owns", "Watches", "WatchesRawSource", "WithEventFilter"}

// commutative are the functions that do not care for the order of their arguments.
var commutative = []string{"min", "max", "equality.Semantic.DeepEqual"}

// call loses a link of its chain, an option, or the order of two arguments.
func (v *visitor) call(n *ast.CallExpr) {
	if selector, ok := n.Fun.(*ast.SelectorExpr); ok {
		if before, after := v.typeOf(selector.X), v.typeOf(n); before != nil && after != nil && types.Identical(before, after) {
			class := "builder"
			if slices.Contains(watches, selector.Sel.Name) {
				class = "watch"
			}
			call := string(v.file.text[v.offset(selector.Sel.Pos()):v.offset(n.End())])
			at := v.offset(selector.X.End())
			v.note(class, selector.Sel, "drop "+oneLine([]byte("."+call)), edit{v.file, at, v.offset(n.End()), ""})
		}
	}
	v.arguments(n)
	if function, ok := n.Fun.(*ast.Ident); ok && (function.Name == "min" || function.Name == "max") && len(n.Args) > 1 {
		other := map[string]string{"min": "max", "max": "min"}[function.Name]
		v.note("arithmetic", n, fmt.Sprintf("%s for %s", other, v.text(v.file, n)), v.replace(function, other))
	}
}

func (v *visitor) arguments(n *ast.CallExpr) {
	signature, ok := v.typeOf(n.Fun).(*types.Signature)
	if !ok {
		return // a conversion, or built in
	}
	for i, argument := range n.Args {
		what := fmt.Sprintf("%s of %s", v.text(v.file, argument), v.text(v.file, n.Fun))
		if signature.Variadic() && i >= signature.Params().Len()-1 && !isFormat(signature) {
			v.note("argument", argument, "drop "+what, v.remove(n.Args, i, n.Rparen))
		}
		if i+1 == len(n.Args) {
			continue
		}
		next := n.Args[i+1]
		if slices.Contains(commutative, v.code(n.Fun)) || isLiteral(argument) != isLiteral(next) {
			continue
		}
		if types.Identical(v.typeOf(argument), v.typeOf(next)) && v.code(argument) != v.code(next) {
			v.note("argument", argument, fmt.Sprintf("swap %s, %s of %s", v.text(v.file, argument), v.text(v.file, next), v.text(v.file, n.Fun)),
				v.replace(argument, v.code(next)), v.replace(next, v.code(argument)))
		}
	}
}

// isLiteral tells what nobody takes for a variable, such as a format or the key of a log line.
func isLiteral(e ast.Expr) bool {
	_, literal := e.(*ast.BasicLit)
	return literal
}

// isFormat tells the functions that format their arguments: a text with %!d(MISSING) is no bug that anybody ships.
func isFormat(signature *types.Signature) bool {
	last, ok := signature.Params().At(signature.Params().Len() - 1).Type().(*types.Slice)
	if !ok {
		return false
	}
	_, takesAll := last.Elem().Underlying().(*types.Interface)
	return takesAll && last.Elem().String() == "any"
}

// remove takes an element out of a list that ends at end, with the comma behind it or, of the last, before it.
func (v *visitor) remove(list []ast.Expr, i int, end token.Pos) edit {
	from, to := v.offset(list[i].Pos()), v.offset(list[i].End())
	switch {
	case i+1 < len(list):
		to = v.offset(list[i+1].Pos())
	default:
		rest := string(v.file.text[to:v.offset(end)])
		if comma := strings.IndexByte(rest, ','); comma >= 0 {
			to += comma + 1
		} else if i > 0 {
			from = v.offset(list[i-1].End())
		}
	}
	return edit{v.file, from, to, ""}
}

// elements of structs, maps and lists are dropped.
func (v *visitor) elements(n *ast.CompositeLit) {
	for i, element := range n.Elts {
		v.note("field", element, "drop "+v.text(v.file, element), v.remove(n.Elts, i, n.Rbrace))
	}
}

// literal numbers are one more, literal texts are empty.
func (v *visitor) literal(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		v.note("constant", n, n.Value+" + 1", v.replace(n, "("+n.Value+" + 1)"))
	case token.STRING:
		other := `""`
		if n.Value == `""` {
			other = `"x"`
		}
		v.note("text", n, fmt.Sprintf("%s for %s", other, v.text(v.file, n)), v.replace(n, other))
	}
}

// truth becomes the opposite.
func (v *visitor) truth(n *ast.Ident) {
	if v.file.pkg.TypesInfo.Uses[n] == types.Universe.Lookup("true") || v.file.pkg.TypesInfo.Uses[n] == types.Universe.Lookup("false") {
		if _, returned := v.parent().(*ast.ReturnStmt); !returned {
			other := map[string]string{"true": "false", "false": "true"}[n.Name]
			v.note("constant", n, fmt.Sprintf("%s for %s in %s", other, n.Name, v.text(v.file, v.parent())), v.replace(n, other))
		}
	}
}

// constants are other ones wherever they are used: a declaration of a constant cannot ask which mutant is active.
func (s *source) constants() []Mutant {
	var all []Mutant
	for _, f := range s.files {
		for name, object := range f.pkg.TypesInfo.Defs {
			constant, ok := object.(*types.Const)
			if !ok || constant.Parent() != f.pkg.Types.Scope() || s.fileSet.Position(name.Pos()).Filename != s.fileSet.Position(f.tree.Package).Filename {
				continue
			}
			for _, other := range otherValues(constant) {
				m := Mutant{File: f.name, Line: s.fileSet.Position(name.Pos()).Line, Function: name.Name, Class: "constant",
					Change: fmt.Sprintf("%s%s", name.Name, other)}
				s.use(constant, other, &m)
				if len(m.edits) > 0 {
					m.Always = len(m.reach) == 0
					all = append(all, m)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Mutant) int { return strings.Compare(a.String(), b.String()) }) // Defs have no order
	return all
}

// otherValues are what is appended to a constant's name to have another value.
func otherValues(constant *types.Const) []string {
	basic, ok := constant.Type().Underlying().(*types.Basic)
	switch {
	case constant.Type().String() == "time.Duration":
		return []string{" * 5", " / 5"}
	case ok && basic.Info()&types.IsNumeric != 0:
		return []string{" + 1"}
	case ok && basic.Info()&types.IsString != 0:
		return []string{` + "x"`}
	}
	return nil
}

// use edits each use of a constant in code, beyond other constants' declarations.
func (s *source) use(constant *types.Const, other string, m *Mutant) {
	for _, f := range s.files {
		ast.PreorderStack(f.tree, nil, func(n ast.Node, stack []ast.Node) bool {
			if declaration, ok := n.(*ast.GenDecl); ok {
				return declaration.Tok == token.VAR
			}
			name, ok := n.(*ast.Ident)
			if !ok || f.pkg.TypesInfo.Uses[name] != constant {
				return true
			}
			from := s.offset(name.Pos())
			if selector, ok := stack[len(stack)-1].(*ast.SelectorExpr); ok {
				from = s.offset(selector.Pos())
			}
			to := s.offset(name.End())
			m.edits = append(m.edits, edit{f, from, to, "(" + string(f.text[from:to]) + other + ")"})
			if statement := statementAround(stack); statement != nil {
				m.reach = append(m.reach, place{f, s.offset(statement.Pos())})
			}
			return true
		})
	}
}
