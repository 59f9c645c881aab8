package process

import (
	"cmp"
	"strings"
)

// NoProxy returns the environment variables NO_PROXY and no_proxy with the loopback addresses added to their values.
// Otherwise some clients would try to reach a local control plane through the user's proxy. If one value is empty, the
// other is used for both variables.
func NoProxy(upper, lower string) []string {
	withLoopback := func(value string) string { return strings.TrimPrefix(value+",127.0.0.1,localhost,::1", ",") }
	return []string{"NO_PROXY=" + withLoopback(cmp.Or(upper, lower)), "no_proxy=" + withLoopback(cmp.Or(lower, upper))}
}
