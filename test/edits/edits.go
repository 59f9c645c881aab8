// Package edits defines valid and invalid edits of the operator's kinds. An edit is a JSON merge patch of a valid
// resource, in the format of kubectl patch. The integration suite sends the edits to an API server.
package edits

// Contract contains the edits that a kind must reject and accept.
type Contract struct {
	Refusals    []Refusal
	Acceptances []Acceptance
}

// Refusal is an edit that must be rejected. Says contains parts of the error message: the field and the expected
// value.
type Refusal struct {
	What, Edit string
	Says       []string
}

// Acceptance is an edit that must be accepted. Stored is the edit that describes the stored object. It is empty if
// that is the same as Edit.
type Acceptance struct {
	What, Edit, Stored string
}
