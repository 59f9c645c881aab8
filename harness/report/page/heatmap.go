package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// heatMap has a row per scenario and a column per fault type.
type heatMap struct {
	scenarios  []string
	Categories []category
	Columns    []string // fault types
	Rows       []row
}

type category struct {
	Name    string
	Columns int
}

type row struct {
	Scenario string
	Cells    []cell
	Failed   int
}

type cell struct {
	Plans, Failed, Missed int
	Target                string // ID of the first failed plan, or of the first plan if none failed
	State                 string // failed if any plan failed, missed if no fault triggered, otherwise passed; empty without plans
	Heat                  int    // share of failed plans on a scale from 1 to 4
	Text                  string
}

func newHeatMap(plans []plan) heatMap {
	var m heatMap
	for _, p := range plans {
		if !slices.Contains(m.scenarios, p.Scenario) {
			m.scenarios = append(m.scenarios, p.Scenario)
		}
	}
	for _, p := range plans { // the plans are ordered by category
		if slices.Contains(m.Columns, p.Types()) {
			continue
		}
		m.Columns = append(m.Columns, p.Types())
		if last := len(m.Categories) - 1; last >= 0 && m.Categories[last].Name == p.Category {
			m.Categories[last].Columns++
		} else {
			m.Categories = append(m.Categories, category{p.Category, 1})
		}
	}
	for _, scenario := range m.scenarios {
		r := row{Scenario: scenario, Cells: make([]cell, len(m.Columns))}
		for i, faultType := range m.Columns {
			r.Cells[i] = newCell(plans, scenario, faultType)
			r.Failed += r.Cells[i].Failed
		}
		m.Rows = append(m.Rows, r)
	}
	return m
}

func newCell(plans []plan, scenario, faultType string) cell {
	var c cell
	for _, p := range plans {
		if p.Scenario != scenario || p.Types() != faultType {
			continue
		}
		c.Plans++
		switch p.State {
		case failed:
			if c.Failed++; c.Failed == 1 {
				c.Target = p.ID
			}
		case missed:
			c.Missed++
		}
		c.Target = cmp.Or(c.Target, p.ID)
	}
	switch {
	case c.Failed > 0:
		c.State, c.Heat = failed, (4*c.Failed+c.Plans-1)/c.Plans
	case c.Plans == 0:
		return c
	case c.Missed == c.Plans:
		c.State = missed
	default:
		c.State = passed
	}
	switch c.State { // for screen readers, the text starts with what the cell shows
	case failed:
		c.Text = fmt.Sprintf("%d/%d failed", c.Failed, c.Plans)
	case passed:
		c.Text = fmt.Sprintf("%d passed", c.Plans)
	}
	if c.Missed > 0 {
		c.Text = strings.TrimPrefix(fmt.Sprintf("%s, %d never triggered", c.Text, c.Missed), ", ")
	}
	c.Text += ": " + scenario + ", " + faultType
	return c
}
