// Package verdict interprets the findings of the oracles. It assigns a severity to each failure, groups failures by
// cause, and decides whether a failure is reproducible. It works only on recorded data and needs no control plane.
//
// A Finding contains the objects, fields and steps that violate an oracle. Its message is for humans, and its Cause
// does not depend on the message.
package verdict
