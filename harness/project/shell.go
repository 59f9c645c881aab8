package project

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// maxPrograms is the number of programs after which a script is assumed to be an endless loop.
const maxPrograms = 100

// lastCommand interprets a shell script and returns the last command line that it executes, and the variables that it
// exports to that command. No programs are run, and no files are read or written: every program succeeds without output.
// lastCommand returns false if the script fails or does not end, uses the output of a program, or runs programs
// concurrently. The first parameter is $0.
func lastCommand(script string, parameters []string, env map[string]string) (words []string, exported map[string]string, known bool) {
	script = "cd() { true; }\n" + script // the directories exist only in the image
	file, err := syntax.NewParser().Parse(strings.NewReader(script), strings.Join(parameters[:min(1, len(parameters))], ""))
	if err != nil || isConcurrent(file) {
		return nil, nil, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	programs := 0
	execute := func(ctx context.Context, args []string) error {
		at := interp.HandlerCtx(ctx)
		_, isFile := at.Stdout.(*os.File)
		usesOutput := at.Stdout != io.Discard && !isFile
		if programs++; usesOutput || programs > maxPrograms {
			cancel()
			return ctx.Err()
		}
		words, exported = args, map[string]string{}
		for name, value := range at.Env.Each { // does not include env
			if value.Exported {
				exported[name] = value.String()
			}
		}
		return nil
	}
	runner, err := interp.New(
		interp.Env(expand.FuncEnviron(func(name string) string { return env[name] })),
		interp.Params(append([]string{"--"}, parameters[min(1, len(parameters)):]...)...),
		interp.StdIO(nil, io.Discard, io.Discard),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return execute }),
		interp.OpenHandler(func(context.Context, string, int, fs.FileMode) (io.ReadWriteCloser, error) {
			return os.OpenFile(os.DevNull, os.O_RDWR, 0)
		}))
	if err != nil {
		return nil, nil, false
	}
	err = runner.Run(ctx, file)
	return words, exported, words != nil && err == nil && ctx.Err() == nil
}

// isConcurrent reports whether a script runs programs in the background or in a pipeline.
func isConcurrent(file *syntax.File) (is bool) {
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Stmt:
			is = is || node.Background
		case *syntax.BinaryCmd:
			is = is || node.Op == syntax.Pipe || node.Op == syntax.PipeAll
		}
		return !is
	})
	return is
}

// assignments returns the variables that an ENV or ARG instruction sets. A missing value is an empty string.
func assignments(text string, known map[string]string) map[string]string {
	_, assigned, _ := lastCommand("export "+text+"\nprogram", nil, known)
	return assigned
}

// substitute expands the variables in text. It keeps commands such as $(go env GOOS).
func substitute(text string, known map[string]string) string {
	return os.Expand(text, func(name string) string {
		name, otherwise, _ := strings.Cut(name, ":-")
		return cmp.Or(known[name], otherwise)
	})
}

var (
	shells = regexp.MustCompile(`^(ba|da|a)?sh$`)
	inits  = []string{"tini", "tini-static", "dumb-init", "catatonit"}
	suids  = []string{"gosu", "su-exec"} // their first argument is the user
)

// program returns the command line that a shell, script, init process, env, gosu or su-exec executes, and the variables
// that the shell or env sets. It returns any other command line unchanged. It returns false if a script is missing or
// too complex to analyze, or if env has options. For a script file, it then also returns the original command line,
// because most scripts pass their arguments on.
func (i Image) program(line []string, env map[string]string) ([]string, map[string]string, bool) {
	if len(line) == 0 {
		return nil, nil, true
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
			return nil, nil, false
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
				return i.interpret(rest[0], rest[1:], env)
			}
		}
		if len(rest) == 0 {
			return nil, nil, false
		}
		line, isScript = rest, true
	}
	script := i.script(line[0])
	if script == "" {
		return line, nil, !isScript
	}
	if words, assigned, known := (Image{}).interpret(script, line, env); known { // without other scripts, because a script may execute itself
		return words, assigned, true
	}
	return line, nil, false
}

// interpret returns the program that a shell script executes, as described at program.
func (i Image) interpret(script string, parameters []string, env map[string]string) ([]string, map[string]string, bool) {
	words, exported, known := lastCommand(script, parameters, env)
	if !known {
		return nil, nil, false
	}
	return i.executed(words, exported, env)
}

// executed calls program for a command that a shell or env executes, and adds the assigned variables to the result.
func (i Image) executed(words []string, assigned, env map[string]string) ([]string, map[string]string, bool) {
	env = maps.Clone(env)
	maps.Copy(env, assigned)
	line, others, known := i.program(words, env)
	maps.Copy(assigned, others)
	return line, assigned, known
}
