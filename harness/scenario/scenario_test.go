package scenario

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func named(name string, acts bool) Step {
	return Step{Name: name, IsAction: acts, Run: func(context.Context, *Env) error { return nil }}
}

func TestADisturbanceGoesAroundTheLastAction(t *testing.T) {
	original := Scenario{Steps: []Step{named("Apply", true), named("IsReady", false), named("Scale", true), named("IsScaled", false)}}
	disturbed := original.InsertAroundLastAction([]Step{named("before", false)}, []Step{named("after", false)})
	var order []string
	for _, step := range disturbed.Steps {
		order = append(order, step.Name)
	}
	if is, want := strings.Join(order, " "), "Apply IsReady before Scale after IsScaled"; is != want {
		t.Errorf("the order is %s, not %s", is, want)
	}
	if len(original.Steps) != 4 || original.Steps[2].Name != "Scale" {
		t.Error("the original has changed")
	}
}

func TestAPanicIsTheStepsError(t *testing.T) {
	step := Step{Name: "Breaks", Run: func(_ context.Context, env *Env) error {
		env.Detailf("so far")
		var none []string
		_ = none[0]
		return nil
	}}
	result := Scenario{}.RunStep(t.Context(), step, &Env{})
	if result.Err == nil || !strings.Contains(result.Err.Error(), "index out of range") || !strings.Contains(result.Err.Error(), "scenario_test.go") {
		t.Errorf("the panic is not told: %v", result.Err)
	}
	if result.Step != "Breaks" || result.Detail != "so far" {
		t.Errorf("the outcome is not whole: %+v", result)
	}
}

func TestARunEndsWithTheFirstFailure(t *testing.T) {
	broken := errors.New("broken")
	s := Scenario{Name: "web/breaks", Steps: []Step{
		named("Apply", true),
		{Name: "Breaks", Run: func(context.Context, *Env) error { return broken }},
		{Name: "Never", Run: func(context.Context, *Env) error { t.Error("it went on"); return nil }},
	}}
	var reported []string
	err := s.Run(t.Context(), &Env{}, func(o StepResult) { reported = append(reported, o.Step) })
	if !errors.Is(err, broken) || err.Error() != "web/breaks: Breaks: broken" || strings.Join(reported, " ") != "Apply Breaks" {
		t.Errorf("%v after %v", err, reported)
	}
}
