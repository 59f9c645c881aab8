package scenarioyaml

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/scenario"
)

type scriptFields struct {
	Content string `json:"content"`
	Timeout string `json:"timeout"`
	Env     []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
	SkipLogOutput bool `json:"skipLogOutput"`
}

func parseScript(folder string, fields map[string]any) (step parsedStep, err error) {
	given := scriptFields{Timeout: "1m"}
	if err := convert(fields, &given); err != nil {
		return step, err
	}
	content := strings.TrimSpace(given.Content)
	if content == "" {
		return step, errors.New("content must be a non-empty string")
	}
	timeout, err := time.ParseDuration(given.Timeout)
	if err != nil || timeout <= 0 {
		return step, fmt.Errorf("invalid timeout %q: use a positive duration such as 30s", given.Timeout)
	}
	parsed := process.Script{Content: given.Content, Folder: folder, Timeout: timeout, SkipOutput: given.SkipLogOutput}
	for _, variable := range given.Env {
		if variable.Name == "" {
			return step, errors.New("env: a variable has no name")
		}
		parsed.Env = append(parsed.Env, variable.Name+"="+variable.Value)
	}
	first, rest, _ := strings.Cut(content, "\n")
	if rest != "" {
		first += " …"
	}
	step.Name = first
	step.Run = func(ctx context.Context, env *scenario.Env) error {
		if env.Config == nil {
			return errors.New("scripts are not supported here, because Env.Config is nil: use other steps")
		}
		return parsed.Run(ctx, env.Config, env.Namespace)
	}
	return step, nil
}

// IsScript reports whether a step runs a script, which requires a shell.
func IsScript(step scenario.Step) bool { return strings.HasPrefix(step.Name, "Script(") }
