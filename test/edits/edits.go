// Package edits has the contract of both kinds as edits: JSON merge patches, as with kubectl patch, which turn a valid
// resource into another valid one, or into one that must be refused. The integration suite has an API server judge them,
// the tests of the manifests the schemas of the CRDs alone.
package edits

// Contract is what a kind refuses and takes.
type Contract struct {
	Refusals    []Refusal
	Acceptances []Acceptance
}

// Refusal is an edit that must be refused, with words of the message: the field, and what to write instead.
type Refusal struct {
	What, Edit string
	Says       []string
}

// Acceptance is an edit that must be taken, with the edit that is then in force; "" for the same one.
type Acceptance struct {
	What, Edit, Stored string
}
