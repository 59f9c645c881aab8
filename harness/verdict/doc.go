// Package verdict decides what the findings of the oracles mean: how severe a failure is, which failures have the same cause, and
// whether a failure comes again. Its functions only look at recorded data, so they need no control plane.
//
// A Finding is a value with the objects, the fields and the step that an oracle objects to. Its message is only for people: no
// decision depends on the words.
package verdict
