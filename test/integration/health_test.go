package integration

import (
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// forbiddenLogLines must not appear in the operator's log during any spec. They indicate a missing permission, a
// reconcile that failed with a conflict, or a panic.
var forbiddenLogLines = regexp.MustCompile(`is forbidden: User|"level":"error".*the object has been modified|panic`)

var _ = BeforeEach(func() {
	logged := len(assay.Log.Contents())
	DeferCleanup(func() {
		Expect(string(assay.Log.Contents()[logged:])).NotTo(MatchRegexp(forbiddenLogLines.String()))
	})
})
