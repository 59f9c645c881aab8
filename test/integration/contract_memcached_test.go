package integration

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"github.com/operator-assay/assay/test/edits"
)

var _ = Describe("The contract of Memcached", func() {
	memcacheds.describeRejected(edits.Memcached.Refusals)

	memcacheds.describeAccepted(edits.Memcached.Acceptances)

	nameRule := []string{"metadata.name must have at most 63 characters", "DNS label"}
	DescribeTable("rejects a name that is invalid for a child", memcacheds.expectNameRejected,
		Entry("of 64 characters", strings.Repeat("a", 64), nameRule),
		Entry("with a dot", "my.cache", nameRule),
	)
	DescribeTable("creates every child of a Memcached", memcacheds.expectNameServed,
		Entry("with the longest name", strings.Repeat("c", 63)),
		Entry("with the longest name, all digits", strings.Repeat("1", 63)),
	)
})
