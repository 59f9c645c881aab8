// Package page writes an HTML report that shows what happened in each run, which runs failed and why.
//
// Failures under faults depend on timing, which is hard to follow in logs. The page therefore draws the timeline of
// each failed run above the timeline of a fault-free run of the same scenario. Failures are grouped by cause.
//
// The page is a single file without external resources, so that it can be opened from the artifacts of a CI system or
// on a phone. It also works without JavaScript. The script only adds a filter, opens the targets of links and shows
// details of the marks in a drawing.
package page
