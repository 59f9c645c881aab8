package bench

import (
	"time"

	"github.com/operator-assay/assay/harness/report/results"
)

// curvePoints is the approximate number of points in a curve.
const curvePoints = 100

// curve records the number of resources with ready Pods, and with the right status, over time.
type curve struct {
	began  time.Time
	step   int // the change that adds a point
	points []results.BenchPoint
}

// startCurve starts a new curve.
func (o *observer) startCurve(began time.Time, count int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.curve = &curve{began: began, step: max(1, count/curvePoints)}
}

// endCurve ends the curve and returns its points.
func (o *observer) endCurve() []results.BenchPoint {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.curve
	o.curve = nil
	c.add(o.ready, o.right)
	return c.points
}

// note adds a point if the numbers have changed enough since the last point.
func (c *curve) note(ready, right int) {
	var last results.BenchPoint
	if len(c.points) > 0 {
		last = c.points[len(c.points)-1]
	}
	if max(ready-last.Ready, last.Ready-ready, right-last.Right, last.Right-right) >= c.step {
		c.add(ready, right)
	}
}

func (c *curve) add(ready, right int) {
	c.points = append(c.points, results.BenchPoint{Seconds: time.Since(c.began).Seconds(), Ready: ready, Right: right})
}
