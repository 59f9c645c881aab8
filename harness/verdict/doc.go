// Package verdict interprets the findings of the oracles. It assigns a severity to each failure, groups failures by
// cause, and decides whether a failure is reproducible. It works only on recorded data and needs no control plane.
//
// A Finding describes a violation that an oracle detected, including the affected step, objects and fields. Its message
// is for humans, and its Cause does not depend on the message.
package verdict
