package bench

import (
	"time"

	"github.com/operator-assay/assay/harness/report/results"
)

// curvePoints is about how many points a curve has.
const curvePoints = 100

// curve is how many resources had their Pods ready, and their status right, as time went on.
type curve struct {
	began  time.Time
	step   int // how many more or less make a point
	points []results.BenchPoint
}

// startCurve begins a new curve.
func (o *observer) startCurve(began time.Time, count int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.curve = &curve{began: began, step: max(1, count/curvePoints)}
}

// endCurve returns the curve, which ends now.
func (o *observer) endCurve() []results.BenchPoint {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.curve
	o.curve = nil
	c.add(o.ready, o.right)
	return c.points
}

// note adds a point if enough has changed since the last one.
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
