package project

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// variables implements expand.Environ for the variables and positional parameters of a shell.
type variables struct {
	values     map[string]string
	parameters []string // $0, $1 and so on
}

// Get implements expand.Environ.
func (v variables) Get(name string) expand.Variable {
	if name == "@" || name == "*" {
		return expand.Variable{Set: true, Kind: expand.Indexed, List: v.parameters[min(1, len(v.parameters)):]}
	}
	if at, err := strconv.Atoi(name); err == nil && at >= 0 && at < len(v.parameters) {
		return expand.Variable{Set: true, Kind: expand.String, Str: v.parameters[at]}
	}
	value, set := v.values[name]
	return expand.Variable{Set: set, Kind: expand.String, Str: value}
}

// Each implements expand.Environ.
func (v variables) Each(visit func(string, expand.Variable) bool) {
	for name := range v.values {
		if !visit(name, v.Get(name)) {
			return
		}
	}
}

// harmless lists the commands that the operator does not depend on.
var harmless = []string{"set", "echo", "ulimit", "cd", "sleep", "mkdir", "trap"}

// needed returns the commands in a statement that the operator may depend on.
func needed(script string, statement *syntax.Stmt) []string {
	switch command := statement.Cmd.(type) {
	case *syntax.BinaryCmd:
		if command.Op == syntax.AndStmt {
			return append(needed(script, command.X), needed(script, command.Y)...)
		}
	case *syntax.CallExpr:
		writesFile := func(r *syntax.Redirect) bool { return r.Op != syntax.DplOut && r.Word.Lit() != "/dev/null" }
		if len(command.Args) > 0 && slices.Contains(harmless, command.Args[0].Lit()) && !slices.ContainsFunc(statement.Redirs, writesFile) {
			return nil
		}
	}
	text := script[statement.Pos().Offset():statement.End().Offset()]
	return []string{strings.TrimRight(strings.Join(strings.Fields(text), " "), "; ")}
}

// simpleCommand returns the words and assignments of the last command in a shell script, and the earlier commands
// that the operator may depend on. It returns false if the last command is known only when the script runs.
func simpleCommand(script string, env expand.Environ) (words, skipped []string, assigned map[string]string, _ bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil || len(file.Stmts) == 0 {
		return nil, nil, nil, false
	}
	earlier, stmt := file.Stmts[:len(file.Stmts)-1], file.Stmts[len(file.Stmts)-1]
	for and, is := stmt.Cmd.(*syntax.BinaryCmd); is && and.Op == syntax.AndStmt; and, is = stmt.Cmd.(*syntax.BinaryCmd) {
		earlier, stmt = append(slices.Clone(earlier), and.X), and.Y
	}
	if stmt.Background || slices.ContainsFunc(earlier, affectsLaterCommands) {
		return nil, nil, nil, false
	}
	call, isCall := stmt.Cmd.(*syntax.CallExpr)
	isFunction := func(earlier *syntax.Stmt) bool {
		function, is := earlier.Cmd.(*syntax.FuncDecl)
		return is && len(call.Args) > 0 && function.Name.Value == call.Args[0].Lit()
	}
	if !isCall || slices.ContainsFunc(earlier, isFunction) {
		return nil, nil, nil, false
	}
	for _, statement := range earlier {
		skipped = append(skipped, needed(script, statement)...)
	}
	config := &expand.Config{Env: env}
	assigned = map[string]string{}
	for _, assignment := range call.Assigns {
		value, err := expand.Literal(config, assignment.Value)
		if err != nil || assignment.Name == nil {
			return nil, nil, nil, false
		}
		assigned[assignment.Name.Value] = value
	}
	words, err = expand.Fields(config, call.Args...)
	if len(words) > 0 && words[0] == "exec" {
		words = words[1:]
	}
	return words, skipped, assigned, err == nil
}

// affectsLaterCommands reports whether a statement may change the variables or parameters of later statements, or
// runs in the background.
func affectsLaterCommands(statement *syntax.Stmt) (affects bool) {
	syntax.Walk(statement, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Stmt:
			affects = affects || node.Background
		case *syntax.DeclClause, *syntax.ForClause, *syntax.ArithmCmd, *syntax.LetClause:
			affects = true
		case *syntax.ParamExp:
			affects = affects || node.Exp != nil && (node.Exp.Op == syntax.AssignUnset || node.Exp.Op == syntax.AssignUnsetOrNull)
		case *syntax.CallExpr:
			sets := len(node.Args) > 1 && slices.Contains([]string{"set --", "printf -v"}, node.Args[0].Lit()+" "+node.Args[1].Lit())
			affects = affects || sets || len(node.Args) == 0 ||
				slices.Contains([]string{".", "source", "eval", "getopts", "read", "shift", "unset"}, node.Args[0].Lit())
		}
		return !affects
	})
	return affects
}

// assignment matches NAME or NAME=VALUE. Parts of the value can be quoted. valuePart matches one of these parts.
var (
	assignment = regexp.MustCompile(`([\w.-]+)(?:=((?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])*))?`)
	escaped    = regexp.MustCompile(`\\([^\\$])`)
	valuePart  = regexp.MustCompile(`"((?:\\.|[^"\\])*)"|'([^']*)'|([^"']+)`)
)

// assignments returns the variables that an ENV or ARG instruction sets. Variables without a value are empty.
func assignments(text string, known map[string]string) map[string]string {
	assigned := map[string]string{}
	for _, found := range assignment.FindAllStringSubmatch(text, -1) {
		var value strings.Builder
		for _, part := range valuePart.FindAllStringSubmatch(found[2], -1) {
			quoted, bare := strings.ReplaceAll(part[1], `\"`, `"`), escaped.ReplaceAllString(part[3], "$1")
			value.WriteString(part[2] + substitute(quoted+bare, known))
		}
		assigned[found[1]] = value.String()
	}
	return assigned
}

// substitute expands the variables in text. It treats quotes as ordinary characters.
func substitute(text string, known map[string]string) string {
	word, err := syntax.NewParser().Document(strings.NewReader(text))
	if err != nil {
		return text
	}
	replaced, err := expand.Document(&expand.Config{Env: variables{values: known}}, word)
	if err != nil {
		return text
	}
	return replaced
}

var (
	shells = regexp.MustCompile(`^(ba|da|a)?sh$`)
	inits  = []string{"tini", "tini-static", "dumb-init", "catatonit"}
	suids  = []string{"gosu", "su-exec"} // their first argument is the user
)

// program returns the command line that a shell, script, init process, env, gosu or su-exec executes, the skipped
// statements of a shell command, and the variables that the shell or env sets. It returns any other command line
// unchanged. It returns false if a script is missing or too complex to analyze, or if env has options. If a script file
// cannot be analyzed, it also returns the script's command line, because most scripts pass on their arguments.
func (i Image) program(line []string, env map[string]string) ([]string, []string, map[string]string, bool) {
	if len(line) == 0 {
		return nil, nil, nil, true
	}
	name, rest := path.Base(line[0]), line[1:]
	isScript := path.Ext(name) == ".sh"
	switch {
	case slices.Contains(inits, name):
		if end := slices.Index(rest, "--"); end >= 0 && strings.HasPrefix(rest[0], "-") {
			rest = rest[end+1:]
		}
		for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			rest = rest[1:]
		}
		return i.program(rest, env)
	case slices.Contains(suids, name):
		return i.program(rest[min(1, len(rest)):], env)
	case name == "env":
		assigned := map[string]string{}
		for len(rest) > 0 && strings.Contains(rest[0], "=") {
			key, value, _ := strings.Cut(rest[0], "=")
			assigned[key], rest = value, rest[1:]
		}
		if len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			return nil, nil, nil, false
		}
		return i.executed(rest, assigned, env)
	case shells.MatchString(name):
		for len(rest) > 1 && strings.HasPrefix(rest[0], "-") {
			option := rest[0]
			rest = rest[1:]
			switch {
			case strings.HasPrefix(option, "--"):
			case strings.HasSuffix(option, "o"): // such as -o pipefail
				rest = rest[1:]
			case strings.HasSuffix(option, "c"):
				if words, skipped, assigned, known := simpleCommand(rest[0], variables{env, rest[1:]}); known {
					line, more, assigned, known := i.executed(words, assigned, env)
					return line, append(skipped, more...), assigned, known
				}
				return nil, nil, nil, false
			}
		}
		if len(rest) == 0 {
			return nil, nil, nil, false
		}
		line, isScript = rest, true
	}
	script := i.script(line[0])
	if script == "" && !isScript {
		return line, nil, nil, true
	}
	if words, _, assigned, known := simpleCommand(script, variables{env, line}); known {
		return Image{}.executed(words, assigned, env) // without other scripts, because a script may execute itself
	}
	return line, nil, nil, false
}

// executed is like program, for a command that runs with additional variables. It also returns these variables.
func (i Image) executed(words []string, assigned, env map[string]string) ([]string, []string, map[string]string, bool) {
	env = maps.Clone(env)
	maps.Copy(env, assigned)
	line, skipped, others, known := i.program(words, env)
	maps.Copy(assigned, others)
	return line, skipped, assigned, known
}
