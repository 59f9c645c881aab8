package invent

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// visitor walks through a file and notes the mutants of each node.
type visitor struct {
	*source
	file  *file
	stack []ast.Node // around the node, outermost first
	found []Mutant
}

func (v *visitor) visit(n ast.Node, stack []ast.Node) bool {
	v.stack = stack
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.StructType, *ast.InterfaceType:
		return false
	case *ast.GenDecl:
		return n.Tok != token.CONST // see constants
	case *ast.FuncDecl:
		v.emptyFunction(n)
	case *ast.IfStmt:
		v.branch(n, n.Cond, n.Body.List)
	case *ast.SwitchStmt:
		v.cases(n)
	case *ast.ForStmt:
		v.loop(n.Body)
	case *ast.RangeStmt:
		v.loop(n.Body)
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.BranchStmt:
		v.statement(n)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			v.statement(n)
		}
	case *ast.ReturnStmt:
		v.results(n)
	case *ast.BinaryExpr:
		v.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			v.note("logic", n, "drop the negation of "+v.text(v.file, n.X), v.replace(n, v.code(n.X)))
		}
	case *ast.CallExpr:
		v.call(n)
	case *ast.CompositeLit:
		v.elements(n)
	case *ast.BasicLit:
		v.literal(n)
	case *ast.Ident:
		v.truth(n)
	}
	return true
}

// code is a node's text.
func (v *visitor) code(n ast.Node) string {
	return string(v.file.text[v.offset(n.Pos()):v.offset(n.End())])
}

// text is a node's text in one line.
func (s *source) text(f *file, n ast.Node) string {
	return oneLine(f.text[s.offset(n.Pos()):s.offset(n.End())])
}

func (v *visitor) replace(n ast.Node, text string) edit {
	return edit{v.file, v.offset(n.Pos()), v.offset(n.End()), text}
}

func (v *visitor) insert(at token.Pos, text string) edit {
	return edit{v.file, v.offset(at), v.offset(at), text}
}

// note keeps a mutant of a node, which is reached where the innermost statement around it is about to run.
func (v *visitor) note(class string, n ast.Node, change string, edits ...edit) {
	v.noteAt(class, n, statementAround(v.down(n)), change, edits...)
}

// noteAt is note for a mutant that is reached where another statement runs.
func (v *visitor) noteAt(class string, n, reached ast.Node, change string, edits ...edit) {
	m := Mutant{File: v.file.name, Line: v.fileSet.Position(n.Pos()).Line, Class: class, Change: change,
		Function: declarationAround(v.down(n)), edits: edits, Always: reached == nil}
	if reached != nil {
		m.reach = []place{{v.file, v.offset(reached.Pos())}}
	}
	v.found = append(v.found, m)
}

// statementAround is the innermost statement of a list, nil outside of functions.
func statementAround(stack []ast.Node) ast.Node {
	for i := len(stack) - 1; i > 0; i-- {
		statement, ok := stack[i].(ast.Stmt)
		if !ok {
			continue
		}
		var list []ast.Stmt
		switch parent := stack[i-1].(type) {
		case *ast.BlockStmt:
			list = parent.List
		case *ast.CaseClause:
			list = parent.Body
		case *ast.CommClause:
			list = parent.Body
		}
		if slices.Contains(list, statement) && !isClause(statement) {
			return statement
		}
	}
	return nil
}

func isClause(statement ast.Stmt) bool {
	switch statement.(type) {
	case *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// declarationAround names the function or the variable, by its receiver's type if it has one.
func declarationAround(stack []ast.Node) string {
	for _, n := range stack {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil {
				return n.Name.Name
			}
			receiver := n.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			if generic, ok := receiver.(*ast.IndexExpr); ok {
				receiver = generic.X
			}
			return receiver.(*ast.Ident).Name + "." + n.Name.Name
		case *ast.ValueSpec:
			return n.Names[0].Name
		}
	}
	return ""
}

// down are the nodes around the children of the node that is visited.
func (v *visitor) down(n ast.Node) []ast.Node { return append(slices.Clone(v.stack), n) }

// parent is the node that has this one.
func (v *visitor) parent() ast.Node { return v.stack[len(v.stack)-1] }

func (v *visitor) typeOf(e ast.Expr) types.Type { return v.file.pkg.TypesInfo.TypeOf(e) }
