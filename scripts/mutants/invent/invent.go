// Package invent makes mutants of Go code from its syntax tree and its types, and compiles all of them into one
// program.
//
// Gremlins, go-mutesting and ooze were looked at first. They invent what every language has (operators, conditions,
// statements), build each mutant by itself, and run the tests of its own package. The bugs of an operator are others,
// a builder's call that is missing or a watch, and who must notice them are the specs of another package, on a control
// plane that takes seconds to start. So here mutants share one program (package schemata), and it tells of each
// spec which mutants it reaches.
package invent

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// Mutant is one change of the program.
type Mutant struct {
	// Number is its place among all that were invented, from 1 on.
	Number int
	// File and Line are where it is.
	File string
	Line int
	// Function is the function or variable that it changes, with its receiver's type: "child.owned".
	Function string
	// Class is the kind of change.
	Class string
	// Change says what it does, in one line.
	Change string
	// Functions are the numbers of the functions that have a body for it.
	Functions []int
	// Always tells that no statement must run to reach it.
	Always bool

	edits []edit
	reach []place
}

// place is a position in a file.
type place struct {
	file   *file
	offset int
}

// Name is what the mutant is known by as long as its line stays the same, wherever that is.
func (m Mutant) Name() string {
	return fmt.Sprintf("%s %s %s: %s", m.File, m.Function, m.Class, m.Change)
}

// String is the name with the line, as FOCUS matches it.
func (m Mutant) String() string {
	return fmt.Sprintf("%s:%d %s %s: %s", m.File, m.Line, m.Function, m.Class, m.Change)
}

// Diff shows the lines that change.
func (m Mutant) Diff() string {
	var out strings.Builder
	for _, e := range m.edits {
		first, last := e.from, e.to
		for first > 0 && e.file.text[first-1] != '\n' {
			first--
		}
		for last < len(e.file.text) && e.file.text[last] != '\n' {
			last++
		}
		fmt.Fprintf(&out, "%s:%d\n", e.file.name, 1+strings.Count(string(e.file.text[:e.from]), "\n"))
		lines := func(sign string, text []byte) {
			for line := range strings.SplitSeq(string(text), "\n") {
				if strings.TrimSpace(line) != "" {
					fmt.Fprintf(&out, "%s%s\n", sign, line)
				}
			}
		}
		lines("-", e.file.text[first:last])
		lines("+", apply(e.file, first, last, []edit{e}))
	}
	return out.String()
}

// Program is a program and its mutants.
type Program struct {
	// Mutants are in the order of their files and lines.
	Mutants []Mutant

	source *source
}

// Of invents the mutants that are wanted of all Go code below a folder of the module at root but tests and what is
// generated.
func Of(root, folder string, wanted func(Mutant) bool) (*Program, error) {
	s, err := load(root, folder)
	if err != nil {
		return nil, err
	}
	var invented []Mutant
	for _, f := range s.files {
		v := &visitor{source: s, file: f}
		ast.PreorderStack(f.tree, nil, v.visit)
		invented = append(invented, v.found...)
	}
	invented = append(invented, s.constants()...)
	slices.SortStableFunc(invented, func(a, b Mutant) int {
		return 2*strings.Compare(a.File, b.File) + sign(a.Line-b.Line)
	})
	p := &Program{source: s}
	names, seen := map[string]int{}, map[string]bool{}
	for _, m := range invented {
		if names[m.Name()]++; names[m.Name()] > 1 {
			m.Change += fmt.Sprintf(" #%d", names[m.Name()])
		}
		same := fmt.Sprint(m.edits)
		if seen[same] || !wanted(m) || !s.complete(&m) {
			continue
		}
		seen[same] = true
		m.Number = len(p.Mutants) + 1
		p.Mutants = append(p.Mutants, m)
	}
	return p, nil
}

func sign(n int) int { return max(-1, min(1, n)) }

// complete gives variables that a mutant leaves without a use another one, and tells whether it compiles then.
func (s *source) complete(m *Mutant) bool {
	without, ok := s.compiles(m.edits)
	if !ok || len(without) == 0 {
		return ok
	}
	if len(m.reach) != 1 {
		return false
	}
	use := "_ = " + strings.Join(slices.Compact(slices.Sorted(slices.Values(without))), "; _ = ") + "; "
	with := append([]edit{{m.reach[0].file, m.reach[0].offset, m.reach[0].offset, use}}, m.edits...)
	if without, ok = s.compiles(with); !ok || len(without) > 0 {
		return false
	}
	m.edits = with
	return true
}

var blanks = regexp.MustCompile(`\s+`)

// oneLine is code in a line that is not too long to read.
func oneLine(text []byte) string {
	line := []rune(strings.TrimSpace(blanks.ReplaceAllString(string(text), " ")))
	if len(line) > 90 {
		line = append(line[:90], '…')
	}
	return string(line)
}
