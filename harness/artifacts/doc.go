// Package artifacts keeps what explains a failed test, before its teardown deletes it.
//
// A failure that shows only its assertion must be reproduced to be understood, and rare failures cannot be
// reproduced. So each failed test leaves a folder: the objects in their last state, the Events by time, the
// operator's log, and its requests to the API server.
//
// With Ginkgo:
//
//	DeferOnFailure(func(ctx SpecContext) {
//		dir, err := collector.Collect(ctx, CurrentSpecReport().FullText(), namespace)
//		...
//	})
//
// With go test or e2e-framework, call Collect from the test's own t.Cleanup when t.Failed().
package artifacts
