// Package page writes the report: one HTML file that shows what a run did, which failed, and why.
//
// A failure under a fault is a thing in time: who asked what, when the operator died, what it saw late, what became of
// the cluster. A person sees that in a picture at once, and in a log after an hour. So the page draws each failure
// above the same scenario without the fault, on one time axis, and groups failures that have one cause.
//
// The file needs nothing else: no server, no network, no font. It is read years later, from a CI system's artifacts,
// on a phone, or without a mouse. Without its script everything is still there; the script filters, opens what a link
// leads to, and shows what a mark in a drawing stands for.
package page
