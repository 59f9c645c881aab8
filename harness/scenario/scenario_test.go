package scenario

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestPanicBecomesStepError(t *testing.T) {
	step := Step{Name: "Breaks", Run: func(_ context.Context, env *Env) error {
		env.Detailf("so far")
		var none []string
		_ = none[0]
		return nil
	}}
	result := Scenario{}.RunStep(t.Context(), step, &Env{})
	if result.Err == nil || !strings.Contains(result.Err.Error(), "index out of range") || !strings.Contains(result.Err.Error(), "scenario_test.go") {
		t.Errorf("got error %v, want the panic and its stack", result.Err)
	}
	if result.Step != "Breaks" || result.Detail != "so far" {
		t.Errorf("got result %+v, want step Breaks with detail %q", result, "so far")
	}
}

func TestRunStopsAtFirstFailure(t *testing.T) {
	broken := errors.New("broken")
	s := Scenario{Name: "web/breaks", Steps: []Step{
		{Name: "Apply", Run: func(context.Context, *Env) error { return nil }},
		{Name: "Breaks", Run: func(context.Context, *Env) error { return broken }},
		{Name: "Never", Run: func(context.Context, *Env) error { t.Error("step Never ran after a failed step"); return nil }},
	}}
	var reported []string
	err := s.Run(t.Context(), &Env{}, func(o StepResult) { reported = append(reported, o.Step) })
	if !errors.Is(err, broken) || err.Error() != "web/breaks: Breaks: broken" {
		t.Errorf("got error %v, want web/breaks: Breaks: broken", err)
	}
	if got := strings.Join(reported, " "); got != "Apply Breaks" {
		t.Errorf("got reported steps %q, want Apply Breaks", got)
	}
}
