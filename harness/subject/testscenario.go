package subject

import (
	"context"
	"fmt"
	"time"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/scenario"
)

const testTimeout = 5 * time.Minute

// TestScenarios returns one scenario for each command. The scenarios are named test/1, test/2 and so on.
func TestScenarios(commands []string) []scenario.Scenario {
	var scenarios []scenario.Scenario
	for i, command := range commands {
		script := process.Script{Content: command, Timeout: testTimeout}
		run := func(ctx context.Context, env *scenario.Env) error { return script.Run(ctx, env.Config, env.Namespace) }
		scenarios = append(scenarios, scenario.Scenario{
			Name:  fmt.Sprintf("test/%d", i+1),
			Steps: []scenario.Step{{Name: "Test(" + command + ")", IsAction: true, Run: run}},
		})
	}
	return scenarios
}
