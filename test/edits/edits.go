// Package edits defines valid and invalid edits for the operator's kinds. An edit is a JSON merge patch to a valid
// resource, as in kubectl patch. The integration suite sends the edits to an API server.
package edits

// Contract contains the edits that the API server must reject and accept for a kind.
type Contract struct {
	Refusals    []Refusal
	Acceptances []Acceptance
}

// Refusal is an edit that the API server must reject. The error message must contain every string in Says, such as the
// name of the field.
type Refusal struct {
	What, Edit string
	Says       []string
}

// Acceptance is an edit that the API server must accept. Stored is a merge patch that contains the stored values if
// they differ from Edit.
type Acceptance struct {
	What, Edit, Stored string
}
