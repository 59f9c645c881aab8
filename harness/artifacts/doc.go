// Package artifacts saves the state of a failed test before the teardown deletes it.
//
// Rare failures cannot be reproduced, so each failed test leaves a directory with the final state of the objects, the
// Events, the operator's log and its requests to the API server.
//
// With Ginkgo, call Collect in DeferOnFailure. With go test or e2e-framework, call it in t.Cleanup if t.Failed().
package artifacts
