// Package page writes an HTML report that shows what happened in each run, which runs failed and why.
//
// Failures under faults depend on timing, which is hard to follow in logs. The page therefore lists the events of each
// failed run next to the events of a fault-free run of the same scenario. Failures are grouped by cause.
//
// The page is a single file without external resources, so that it can be opened from the artifacts of a CI system or
// on a phone. It also works without JavaScript. The script only adds a filter and opens the targets of links.
package page
