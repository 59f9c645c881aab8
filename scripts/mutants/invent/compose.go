package invent

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// schemataFolder has the package that the composed program asks which mutants are active.
const schemataFolder = "test/fixtures/mutants/schemata"

// unit is a part of a file that can have several bodies: a function's, or a variable's value.
type unit struct {
	file     *file
	number   int
	from, to int
	variable string // its name, unless it is a function
	void     bool   // a function without results, whose end may be reached
}

// Compose returns the files, by their names from the root, of the one program that has all mutants, and sets their
// Functions. The program is as it was until package schemata is told to activate a mutant.
func (p *Program) Compose(module string) map[string][]byte {
	composed := map[string][]byte{}
	number := 0
	for _, f := range p.source.files {
		var edits []edit
		var variables strings.Builder
		for _, declaration := range f.tree.Decls {
			for _, u := range p.source.units(f, declaration) {
				number++
				u.number = number
				bodies := p.bodies(u)
				switch {
				case bodies == "":
				case u.variable == "":
					edits = append(edits, edit{f, u.from + 1, u.from + 1, fmt.Sprintf("\n\tswitch schemata__.Active(%d) {\n%s\t}\n", number, bodies)})
				default:
					fmt.Fprintf(&variables, "\nfunc init() {\n\toriginal := %s\n\tschemata__.OnActivate(func() {\n\t\tswitch schemata__.Active(%d) {\n%s\t\tdefault:\n\t\t\t%s = original\n\t\t}\n\t})\n}\n",
						u.variable, number, bodies, u.variable)
				}
			}
		}
		edits = append(edits, p.reaches(f)...)
		if len(edits) == 0 && variables.Len() == 0 {
			continue
		}
		at := p.source.offset(f.tree.Name.End())
		edits = append(edits, edit{f, at, at, fmt.Sprintf("; import schemata__ %q", module+"/"+schemataFolder)})
		composed[f.name] = append(apply(f, 0, len(f.text), edits), variables.String()...)
	}
	return composed
}

// units of a declaration.
func (s *source) units(f *file, declaration ast.Decl) (units []unit) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Body != nil {
			units = append(units, unit{file: f, from: s.offset(d.Body.Lbrace), to: s.offset(d.Body.Rbrace), void: d.Type.Results == nil})
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && d.Tok.String() == "var" && len(v.Values) == 1 && v.Names[0].Name != "_" {
				units = append(units, unit{file: f, from: s.offset(v.Values[0].Pos()), to: s.offset(v.Values[0].End()), variable: v.Names[0].Name})
			}
		}
	}
	return units
}

// bodies are the cases of a unit's switch, one for each mutant that edits it.
func (p *Program) bodies(u unit) string {
	var cases strings.Builder
	for i := range p.Mutants {
		m := &p.Mutants[i]
		if !slices.ContainsFunc(m.edits, func(e edit) bool { return e.file == u.file && u.from <= e.from && e.to <= u.to }) {
			continue
		}
		m.Functions = append(m.Functions, u.number)
		body := apply(u.file, u.from, u.to, m.edits)
		switch {
		case u.variable != "":
			fmt.Fprintf(&cases, "\t\tcase %d:\n\t\t\t%s = %s\n", m.Number, u.variable, body)
		case u.void:
			fmt.Fprintf(&cases, "\tcase %d:\n\t\t%s\n\treturn\n}\n", m.Number, body)
		default:
			fmt.Fprintf(&cases, "\tcase %d:\n\t\t%s}\n", m.Number, body)
		}
	}
	return cases.String()
}

// reaches note in a file's own bodies which mutants they would have run.
func (p *Program) reaches(f *file) []edit {
	var edits []edit
	for _, m := range p.Mutants {
		for _, at := range m.reach {
			if at.file == f {
				edits = append(edits, edit{f, at.offset, at.offset, fmt.Sprintf("schemata__.Reach(%d); ", m.Number)})
			}
		}
	}
	return edits
}
