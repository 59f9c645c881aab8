package invent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Classes of the mutants of manifests: something is not declared, or a value is another one.
const (
	classDrop   = "drop"
	classChange = "change"
)

// Manifests invents the mutants that are wanted of all YAML below a folder of the module at root: each field and each
// element is dropped, and each scalar changed, but descriptions. They are numbered from first on.
func Manifests(root, folder string, first int, wanted func(Mutant) bool) ([]Mutant, error) {
	var invented []Mutant
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		more, err := manifestMutants(filepath.ToSlash(name), text)
		invented = append(invented, more...)
		return err
	})
	invented = slices.DeleteFunc(invented, func(m Mutant) bool { return !wanted(m) })
	for i := range invented {
		invented[i].Number = first + i
	}
	return invented, err
}

// Text is the text of the mutant's file, which is a manifest, with its change.
func (m Mutant) Text() []byte {
	f := m.edits[0].file
	return apply(f, 0, len(f.text), m.edits)
}

// manifest is a file of YAML documents in block style, whose mutants are found in turn.
type manifest struct {
	*file
	lines []int // the offset of each line
	found []Mutant
}

func manifestMutants(name string, text []byte) ([]Mutant, error) {
	m := &manifest{file: &file{name: name, text: text}, lines: []int{0}}
	for i, char := range text {
		if char == '\n' {
			m.lines = append(m.lines, i+1)
		}
	}
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var roots []*yaml.Node
	for {
		var document yaml.Node
		err := documents.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		roots = append(roots, document.Content[0])
	}
	for _, root := range roots {
		path := ""
		if len(roots) > 1 {
			path = kindOf(root) + "."
		}
		m.visit(path, root)
	}
	return m.found, nil
}

// kindOf tells the documents of a file apart.
func kindOf(root *yaml.Node) string {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "kind" {
			return root.Content[i+1].Value
		}
	}
	return "?"
}

// visit finds the mutants of what a mapping or a sequence has. The path is that to a child, but for its name.
func (m *manifest) visit(path string, node *yaml.Node) {
	step := 1
	if node.Kind == yaml.MappingNode {
		step = 2
	}
	for i := 0; i < len(node.Content); i += step {
		value, key := node.Content[i+step-1], ""
		at := fmt.Sprintf("%s[%d]", strings.TrimSuffix(path, "."), i)
		if node.Kind == yaml.MappingNode {
			key = node.Content[i].Value
			at = path + keyed(key)
		}
		if key == "description" && value.Kind == yaml.ScalarNode {
			continue
		}
		from, end := m.extent(node, i)
		m.drop(at, node, i, step)
		if value.Kind == yaml.ScalarNode {
			m.change(at, key, value, max(from, m.offset(value.Line, value.Column)), end)
			continue
		}
		m.visit(at+".", value)
	}
}

// keyed is a key as a part of a path; one with dots of its own is quoted.
func keyed(key string) string {
	if strings.Contains(key, ".") {
		return strconv.Quote(key)
	}
	return key
}

func (m *manifest) offset(line, column int) int { return m.lines[line-1] + column - 1 }

// extent is where a child of a mapping or a sequence begins, with its key or dash, and ends.
func (m *manifest) extent(node *yaml.Node, i int) (from, end int) {
	start := func(i int) (line, column int) {
		if node.Kind == yaml.SequenceNode {
			return node.Content[i].Line, node.Column // that of the dashes
		}
		return node.Content[i].Line, node.Content[i].Column
	}
	line, column := start(i)
	from = m.offset(line, column)
	for ; line < len(m.lines); line++ {
		text := m.line(line + 1)
		indent := len(text) - len(strings.TrimLeft(text, " "))
		below := indent >= column || // column is one more than the indentation
			indent == column-1 && node.Kind == yaml.MappingNode && strings.HasPrefix(text[indent:], "- ")
		if strings.TrimSpace(text) != "" && !below {
			break
		}
	}
	return from, m.lines[line-1] + len(strings.TrimRight(m.line(line), " \n"))
}

// line is the text of a line, which are counted from 1 on.
func (m *manifest) line(number int) string {
	from, to := m.lines[number-1], len(m.text)
	if number < len(m.lines) {
		to = m.lines[number] - 1
	}
	return string(m.text[from:to])
}

// drop takes a child away. What has no other is left empty.
func (m *manifest) drop(path string, node *yaml.Node, i, step int) {
	from, end := m.extent(node, i)
	what, text := oneLine(m.text[from:end]), ""
	switch {
	case i+step < len(node.Content):
		end, _ = m.extent(node, i+step)
	case len(node.Content) > step:
	case node.Kind == yaml.SequenceNode:
		text = "  []" // deeper than the key that it is of
	default:
		text = "{}"
	}
	m.add(path, classDrop, what, node.Content[i].Line, edit{m.file, from, end, text})
}

// change gives a scalar other values.
func (m *manifest) change(path, key string, scalar *yaml.Node, from, end int) {
	written := string(m.text[from:end])
	if !strings.Contains(written, "\n") && scalar.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 {
		written, _, _ = strings.Cut(written, " #")
		end = from + len(written)
	}
	for _, other := range others(key, scalar) {
		m.add(path, classChange, oneLine([]byte(written))+" → "+other, scalar.Line, edit{m.file, from, end, other})
	}
}

func (m *manifest) add(path, class, change string, line int, e edit) {
	m.found = append(m.found, Mutant{File: m.name, Line: line, Function: path, Class: class, Change: change, edits: []edit{e}})
}

// alternatives are values that are as valid as one is: to refuse a value that means nothing proves little.
var alternatives = map[string]string{
	"string": "integer", "integer": "string", "date": "string", "int32": "int64", "int64": "int32",
	"map": "atomic", "atomic": "set", "Namespaced": "Cluster",
	"ClusterRole": "Role", "Role": "ClusterRole", "ServiceAccount": "User",
	"RuntimeDefault": "Unconfined", "restricted": "baseline", "IfNotPresent": "Always", "TCP": "UDP",
	"/healthz": "/readyz", "/readyz": "/healthz",
	"get": "list", "list": "get", "watch": "get", "create": "update", "update": "create", "patch": "update", "delete": "get",
}

var quantity = regexp.MustCompile(`^([0-9]+)([a-zA-Z]+)$`)

// bound is an upper bound in a regular expression.
var bound = regexp.MustCompile(`[0-9]+\}`)

// others are the values that a scalar gets in its mutants, as they are written.
func others(key string, scalar *yaml.Node) []string {
	switch n, err := strconv.Atoi(scalar.Value); {
	case scalar.Tag == "!!int" && err == nil:
		return []string{strconv.Itoa(n + 1), strconv.Itoa(n - 1)}
	case scalar.Tag == "!!bool":
		return []string{strconv.FormatBool(scalar.Value != "true")}
	case quantity.MatchString(scalar.Value):
		parts := quantity.FindStringSubmatch(scalar.Value)
		return []string{parts[1] + "0" + parts[2]}
	case key == "rule":
		return append([]string{`"true"`}, looser(scalar.Value)...)
	case key == "pattern":
		return looser(scalar.Value)
	case alternatives[scalar.Value] != "":
		return []string{alternatives[scalar.Value]}
	default:
		return []string{"other"}
	}
}

// looser are the same expression with each of its upper bounds one higher.
func looser(expression string) (all []string) {
	for _, at := range bound.FindAllStringIndex(expression, -1) {
		n, _ := strconv.Atoi(expression[at[0] : at[1]-1]) // the expression has digits only
		all = append(all, "'"+strings.ReplaceAll(fmt.Sprintf("%s%d%s", expression[:at[0]], n+1, expression[at[1]-1:]), "'", "''")+"'")
	}
	return all
}
