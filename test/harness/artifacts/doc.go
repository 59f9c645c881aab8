// Package artifacts keeps what explains a failed test, before its teardown takes it away.
//
// A failure that only shows its assertion has to be reproduced to be understood, and the rare ones
// cannot be. So each failing test leaves a folder: the objects as they were, what happened to them
// in time order, what the operator said, and what it asked of the API server.
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
