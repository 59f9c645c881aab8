package page

import (
	"cmp"
	"fmt"
	"slices"
)

type matrix struct {
	Columns []string // fault types
	Rows    []row
}

type row struct {
	Scenario string
	Cells    []cell
}

type cell struct {
	Plans, Failed int
	Target        string // ID of the first failed plan, or of the first plan if none failed
	State         string // failed if any plan failed, missed if no fault triggered, otherwise passed; empty without plans
	Text          string
}

func newMatrix(plans []plan) matrix {
	var m matrix
	for _, p := range plans { // the plans are ordered by category
		if m.rowOf(p) < 0 {
			m.Rows = append(m.Rows, row{Scenario: p.Scenario})
		}
		if !slices.Contains(m.Columns, p.Types()) {
			m.Columns = append(m.Columns, p.Types())
		}
	}
	for i, r := range m.Rows {
		for _, faultType := range m.Columns {
			m.Rows[i].Cells = append(m.Rows[i].Cells, newCell(plans, r.Scenario, faultType))
		}
	}
	return m
}

func (m matrix) rowOf(p plan) int {
	return slices.IndexFunc(m.Rows, func(r row) bool { return r.Scenario == p.Scenario })
}

func newCell(plans []plan, scenario, faultType string) cell {
	var c cell
	for _, p := range plans {
		if p.Scenario != scenario || p.Types() != faultType {
			continue
		}
		c.Plans++
		if p.State == failed {
			if c.Failed++; c.Failed == 1 {
				c.Target, c.State = p.ID, failed
			}
		}
		if c.State != failed && (c.State == "" || p.State == passed) {
			c.State = p.State
		}
		c.Target = cmp.Or(c.Target, p.ID)
	}
	c.Text = fmt.Sprintf("%d of %d failed: %s, %s", c.Failed, c.Plans, scenario, faultType)
	return c
}
