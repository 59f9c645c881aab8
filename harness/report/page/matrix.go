package page

import (
	"fmt"
	"slices"

	"github.com/operator-assay/assay/harness/results"
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
	for _, p := range plans {
		if !slices.Contains(m.Columns, p.Types()) {
			m.Columns = append(m.Columns, p.Types())
		}
	}
	for _, p := range plans { // sorted by scenario
		if last := len(m.Rows) - 1; last < 0 || m.Rows[last].Scenario != p.Scenario {
			m.Rows = append(m.Rows, row{p.Scenario, make([]cell, len(m.Columns))})
		}
		m.Rows[len(m.Rows)-1].Cells[slices.Index(m.Columns, p.Types())].add(p)
	}
	return m
}

func (c *cell) add(p plan) {
	state := p.State()
	c.Plans++
	if state == results.Failed {
		c.Failed++
	}
	switch {
	case c.State == "", state == results.Failed && c.State != results.Failed:
		c.State, c.Target = state, p.ID
	case state == results.Passed && c.State == results.Missed:
		c.State = state
	}
	c.Text = fmt.Sprintf("%d of %d failed: %s, %s", c.Failed, c.Plans, p.Scenario, p.Types())
}
