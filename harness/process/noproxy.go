package process

import (
	"cmp"
	"strings"
)

// NoProxy returns the variables NO_PROXY and no_proxy. They contain the given values and the loopback addresses, because
// some clients would otherwise look for a control plane behind the user's proxy. An empty value defaults to the other
// one.
func NoProxy(upper, lower string) []string {
	withLoopback := func(value string) string { return strings.TrimPrefix(value+",127.0.0.1,localhost,::1", ",") }
	return []string{"NO_PROXY=" + withLoopback(cmp.Or(upper, lower)), "no_proxy=" + withLoopback(cmp.Or(lower, upper))}
}
