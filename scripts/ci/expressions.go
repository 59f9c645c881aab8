package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var expression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

// values are what the expressions of one job stand for, by their text. There is no interpreter: the
// workflow uses few, and one that is not among them is refused.
type values map[string]string

func valuesOf(p part, needs texts, results map[string]string) values {
	v := values{}
	for key, value := range p {
		v["matrix."+key] = value
	}
	var list []string
	needed := map[string]map[string]string{}
	for _, id := range needs {
		v["needs."+id+".result"] = results[id]
		list = append(list, results[id])
		needed[id] = map[string]string{"result": results[id]}
	}
	v["join(needs.*.result, ' ')"] = strings.Join(list, " ")
	text, _ := json.MarshalIndent(needed, "", "  ") // strings always can
	v["toJSON(needs)"] = string(text)
	return v
}

// fill replaces the expressions in a text.
func (v values) fill(text string) (string, error) {
	var unknown error
	filled := expression.ReplaceAllStringFunc(text, func(found string) string {
		name := expression.FindStringSubmatch(found)[1]
		value, ok := v[name]
		if !ok {
			unknown = fmt.Errorf("%s means nothing on this machine", found)
		}
		return value
	})
	return filled, unknown
}

// wants tells whether a condition lets a step or a job run, given whether all before it went well.
func wants(condition string, well bool) (bool, error) {
	switch strings.TrimSpace(expression.ReplaceAllString(condition, "$1")) {
	case "", "success()":
		return well, nil
	case "always()":
		return true, nil
	case "failure() || cancelled()":
		return !well, nil
	}
	return false, fmt.Errorf("if: %s is no condition that this machine can judge", condition)
}

// environment adds settings, filled in, to an environment; later ones win.
func (v values) environment(base []string, settings ...map[string]string) ([]string, error) {
	environment := slices.Clone(base)
	for _, set := range settings {
		for name, value := range set {
			filled, err := v.fill(value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			environment = append(environment, name+"="+filled)
		}
	}
	return environment, nil
}
