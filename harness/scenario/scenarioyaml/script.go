package scenarioyaml

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/scenario"
)

const scriptTimeout = time.Minute

// scriptFields defines the fields of a script step. It must match the schema in assay.schema.json.
type scriptFields struct {
	Content       string     `json:"content"`
	Timeout       string     `json:"timeout,omitempty"`
	Env           []variable `json:"env,omitempty"`
	SkipLogOutput bool       `json:"skipLogOutput,omitempty"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// parseScript parses the fields of a script step. The script will run in folder.
func parseScript(folder string, fields map[string]any) (process.Script, error) {
	text, err := json.Marshal(fields)
	if err != nil {
		return process.Script{}, err
	}
	var given scriptFields
	if err := decode(text, &given); err != nil {
		return process.Script{}, fmt.Errorf("script: %w", err)
	}
	parsed := process.Script{Content: given.Content, Folder: folder, Timeout: scriptTimeout, SkipOutput: given.SkipLogOutput}
	if strings.TrimSpace(given.Content) == "" {
		return parsed, errors.New("script requires content as a non-empty string")
	}
	if given.Timeout != "" {
		parsed.Timeout, err = time.ParseDuration(given.Timeout)
		if err != nil || parsed.Timeout <= 0 {
			return parsed, fmt.Errorf("script: invalid timeout %q: use a positive duration such as 30s", given.Timeout)
		}
	}
	for _, variable := range given.Env {
		if variable.Name == "" {
			return parsed, errors.New("script: env: a variable has no name")
		}
		parsed.Env = append(parsed.Env, variable.Name+"="+variable.Value)
	}
	return parsed, nil
}

const scriptPrefix = "Script("

// IsScript reports whether a step runs a script, which requires a shell.
func IsScript(step scenario.Step) bool { return strings.HasPrefix(step.Name, scriptPrefix) }

// playScript returns a step that is named after the first line of the script.
func playScript(script process.Script) scenario.Step {
	first, rest, _ := strings.Cut(strings.TrimSpace(script.Content), "\n")
	if rest != "" {
		first += " …"
	}
	return scenario.Step{Name: scriptPrefix + first + ")", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		if env.Config == nil {
			return errors.New("scripts are not supported here, because Env.Config is nil: use other steps")
		}
		return script.Run(ctx, env.Config, env.Namespace)
	}}
}
