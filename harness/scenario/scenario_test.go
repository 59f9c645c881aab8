package scenario

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func newStep(name string, isAction bool) Step {
	return Step{Name: name, IsAction: isAction, Run: func(context.Context, *Env) error { return nil }}
}

func TestInsertAroundLastAction(t *testing.T) {
	original := Scenario{Steps: []Step{newStep("Apply", true), newStep("IsReady", false), newStep("Scale", true), newStep("IsScaled", false)}}
	extended := original.InsertAroundLastAction([]Step{newStep("before", false)}, []Step{newStep("after", false)})
	var order []string
	for _, step := range extended.Steps {
		order = append(order, step.Name)
	}
	if got, want := strings.Join(order, " "), "Apply IsReady before Scale after IsScaled"; got != want {
		t.Errorf("got steps %s, want %s", got, want)
	}
	if len(original.Steps) != 4 || original.Steps[2].Name != "Scale" {
		t.Errorf("InsertAroundLastAction changed the original scenario: %v", original.Steps)
	}
}

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
		newStep("Apply", true),
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
