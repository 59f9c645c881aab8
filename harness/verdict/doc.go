// Package verdict interprets the findings of the oracles. It determines the severity of a failure, the failures that
// have the same cause, and whether a failure is reproducible. It works only on recorded data and needs no control
// plane.
//
// A Finding contains the objects, fields and steps that violate an oracle. Its message is for humans, and its
// Cause does not depend on the message.
package verdict
