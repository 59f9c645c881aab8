package cluster

import (
	"context"
	"fmt"
)

// reuseOrCreate reuses a kept cluster with the same configuration if its API server is available. It replaces a kept
// cluster whose API server is not available, and a cluster left behind by a killed run.
func (c *Cluster) reuseOrCreate(ctx context.Context, options Options) error {
	found, err := c.stateDir.read()
	if err != nil {
		return err
	}
	c.state.Kept = found != nil && found.Kept
	switch {
	case found == nil || found.Provider == Existing: // nothing to remove
		c.state.Kept = c.state.Kept && c.Provider == Existing
		return c.create(ctx)
	case !found.Kept:
		options.log().Printf("replacing %s cluster %q, which was left behind by a killed run", found.Provider, c.Name)
	case *found != c.state:
		return fmt.Errorf("the kept cluster %q has a different configuration (%s): delete it with `assay cluster down`, or choose another %s",
			c.Name, found.diff(c.state), nameOption)
	default:
		err := c.connect(ctx)
		if err == nil {
			c.Reused = true
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		options.log().Printf("replacing kept %s cluster %q: %s", c.Provider, c.Name, err)
	}
	c.state.Kept = false
	if err := providerFor(found.Provider, options, c.stateDir).remove(ctx); err != nil {
		return fmt.Errorf("%s cluster %q already exists and cannot be removed (%w): remove it by hand, or choose another %s",
			found.Provider, c.Name, err, nameOption)
	}
	return c.create(ctx)
}
