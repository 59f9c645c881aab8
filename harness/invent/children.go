package invent

import (
	"context"
	"fmt"

	"github.com/operator-assay/assay/harness/verdict"
)

// notRecreated is the reason for skipping the deletion of a child that the operator does not recreate.
const notRecreated = "the operator does not create it again"

// reportLost handles the children that the operator did not recreate. If the operator recreated other children, it
// probably does not watch this one, which is a finding if a second run confirms it. In all other cases, the scenario is
// simply skipped.
func (s subject) reportLost(ctx context.Context, play func(context.Context, candidate) trial, candidates []candidate, tried []trial) {
	restored := ""
	for i, c := range candidates[:len(tried)] {
		if c.child != nil && tried[i].why == "" {
			restored = c.child.Kind.Kind
		}
	}
	for i, t := range tried {
		c, why := candidates[i], notRecreated
		if t.why != notRecreated {
			continue
		}
		if t.isBug && restored != "" {
			isConfirmed := ctx.Err() == nil && play(ctx, c).isBug
			if isConfirmed {
				s.explorer.AddWithoutFault(c.Document.Name, verdict.FromLostChild(c.child.Kind.Kind, c.child.Name, restored))
				continue
			}
			if ctx.Err() != nil {
				why = fmt.Sprintf("%s, although it recreates the %s; the exploration was interrupted before a second run could confirm this", notRecreated, restored)
			}
		}
		s.invented.Left = append(s.invented.Left, fmt.Sprintf("%s: %s", c.Document.Name, why))
	}
}
