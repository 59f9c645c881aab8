package invent

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Mutants of what runs and what does not: statements, branches, loops, results.

// statement is dropped.
func (v *visitor) statement(n ast.Node) {
	if statementAround(v.down(n)) == n { // no part of a for or an if
		v.note("statement", n, "drop "+v.text(v.file, n), v.replace(n, ""))
	}
}

// branch is never and always taken. Who notices both notices a negation. That it is never taken matters only where its
// body runs.
func (v *visitor) branch(n ast.Node, condition ast.Expr, body []ast.Stmt) {
	what, code := v.text(v.file, condition), v.code(condition)
	evaluated := statementAround(v.down(n))
	taken := evaluated
	if len(body) > 0 {
		taken = body[0]
	}
	v.noteAt("condition", condition, taken, "never "+what, v.replace(condition, "false && ("+code+")"))
	v.noteAt("condition", condition, evaluated, "always "+what, v.replace(condition, "true || ("+code+")"))
}

// cases of a switch without a tag are conditions.
func (v *visitor) cases(n *ast.SwitchStmt) {
	if n.Tag != nil {
		return
	}
	for _, clause := range n.Body.List {
		clause := clause.(*ast.CaseClause)
		for _, condition := range clause.List {
			v.branch(n, condition, clause.Body)
		}
	}
}

// loop never runs, or ends after the first time.
func (v *visitor) loop(body *ast.BlockStmt) {
	if len(body.List) == 0 {
		return
	}
	first, last := body.List[0], body.List[len(body.List)-1]
	v.noteAt("loop", body, first, "never iterates over "+v.text(v.file, first), v.insert(first.Pos(), "break; "))
	v.noteAt("loop", body, first, "ends after the first "+v.text(v.file, first), v.insert(last.End(), "; break"))
}

// emptyFunction returns at once, with zeroes.
func (v *visitor) emptyFunction(n *ast.FuncDecl) {
	if n.Body == nil || len(n.Body.List) == 0 {
		return
	}
	var zeroes []string
	if n.Type.Results != nil {
		for _, field := range n.Type.Results.List {
			for range max(1, len(field.Names)) {
				zeroes = append(zeroes, "*new("+v.code(field.Type)+")")
			}
		}
	}
	first := n.Body.List[0]
	v.noteAt("return", n, first, "return zeroes at once", v.insert(first.Pos(), "return "+strings.Join(zeroes, ", ")+"; "))
}

// results are each nil, or the opposite.
func (v *visitor) results(n *ast.ReturnStmt) {
	for i, result := range n.Results {
		t := v.typeOf(result)
		if _, several := t.(*types.Tuple); t == nil || several {
			continue
		}
		what := v.text(v.file, result)
		if len(n.Results) > 1 {
			what = fmt.Sprintf("%s (result %d of %s)", what, i+1, v.text(v.file, n))
		}
		switch t.Underlying().(type) {
		case *types.Basic:
			if types.Identical(t.Underlying(), types.Typ[types.Bool]) || types.Identical(t, types.Typ[types.UntypedBool]) {
				v.note("return", n, "return the opposite of "+what, v.replace(result, "!("+v.code(result)+")"))
			}
		case *types.Pointer, *types.Interface, *types.Slice, *types.Map, *types.Signature:
			v.note("return", n, "return nil for "+what, v.replace(result, "nil"))
		}
	}
}

var opposite = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
}

// binary operands of && and || count no more, comparisons have another boundary, and sums become differences.
func (v *visitor) binary(n *ast.BinaryExpr) {
	if n.Op == token.LAND || n.Op == token.LOR {
		neutral := map[token.Token]string{token.LAND: "true || ", token.LOR: "false && "}[n.Op]
		for _, operand := range []ast.Expr{n.X, n.Y} {
			v.note("logic", operand, fmt.Sprintf("ignore %s %s", n.Op, v.text(v.file, operand)),
				v.replace(operand, "("+neutral+"("+v.code(operand)+"))"))
		}
		return
	}
	class := "comparison"
	switch n.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
	case token.EQL, token.NEQ:
		switch parent := v.parent().(type) {
		case *ast.IfStmt, *ast.CaseClause, *ast.ReturnStmt:
			return // the opposite of what these have mutants of
		case *ast.BinaryExpr:
			if parent.Op == token.LAND || parent.Op == token.LOR {
				return
			}
		}
	case token.ADD, token.SUB, token.MUL, token.QUO:
		class = "arithmetic"
		if basic, ok := v.typeOf(n).Underlying().(*types.Basic); !ok || basic.Info()&types.IsNumeric == 0 {
			return
		}
	default:
		return
	}
	at := v.offset(n.OpPos)
	v.note(class, n, fmt.Sprintf("%s for %s in %s", opposite[n.Op], n.Op, v.text(v.file, n)),
		edit{v.file, at, at + len(n.Op.String()), opposite[n.Op].String()})
}
