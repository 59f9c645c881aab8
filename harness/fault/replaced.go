package fault

import "net/http"

// Replaced is a user who deletes the resource and creates it again just before a write of the operator. What the operator has
// read of the resource and puts into its children belongs to the deleted one. Injector.Replace does it.
var Replaced = register(replaced{})

type replaced struct{}

func (replaced) Name() string       { return "replaced" }
func (replaced) Category() Category { return Replacements }

// Points returns all writes of a scenario with one action. After several actions, objects may keep traces of the earlier ones,
// so the final state cannot be compared.
func (replaced) Points(ref *Reference) []RequestKey {
	if !ref.HasSubject || ref.Actions != 1 {
		return nil
	}
	return ref.Writes
}

func (replaced) Inject(call *Call) (*http.Response, error) {
	if replace := call.transport.injector.Replace; replace != nil {
		replace()
	}
	return call.send()
}
