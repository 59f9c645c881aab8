package scenarioyaml

import (
	"context"
	"errors"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/scenario"
)

const scriptTimeout = time.Minute

type scriptFields struct {
	Content string          `json:"content"`
	Timeout metav1.Duration `json:"timeout"`
	Env     []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
	SkipLogOutput bool `json:"skipLogOutput"`
}

func parseScript(folder string, fields map[string]any) (step parsedStep, err error) {
	given := scriptFields{Timeout: metav1.Duration{Duration: scriptTimeout}}
	if err := convert(fields, &given); err != nil {
		return step, err
	}
	content := strings.TrimSpace(given.Content)
	if content == "" {
		return step, errors.New("content must be a non-empty string")
	}
	parsed := process.Script{Content: given.Content, Folder: folder, Timeout: given.Timeout.Duration, SkipOutput: given.SkipLogOutput}
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
