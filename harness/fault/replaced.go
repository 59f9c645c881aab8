package fault

import "net/http"

// Replaced simulates a user who deletes and recreates the resource just before the operator writes. The operator then
// writes child objects that are based on the deleted resource. The fault calls Injector.Replace.
//
// It is injected at all writes, but only if the scenario names its main resource and has a single action. After several
// actions, the final state can depend on the earlier ones, so it cannot be compared.
var Replaced = register(&requestFault{
	common: common{"replaced", Replacements, func(ref *Reference) []RequestKey {
		if !ref.HasSubject || ref.Actions != 1 {
			return nil
		}
		return ref.Writes
	}},
	inject: func(call *call) (*http.Response, error) {
		if replace := call.transport.injector.Replace; replace != nil {
			replace()
		}
		return call.send()
	},
})
