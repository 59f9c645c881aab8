package process

import (
	"cmp"
	"slices"
	"strings"
)

// NoProxy returns the environment with the loopback addresses added to NO_PROXY and no_proxy. Otherwise some clients
// would try to reach a local control plane through the user's proxy. If only one is set, it is used for both.
func NoProxy(environment []string) []string {
	var upper, lower string
	others := slices.DeleteFunc(slices.Clone(environment), func(variable string) bool {
		name, value, _ := strings.Cut(variable, "=")
		switch name {
		case "NO_PROXY":
			upper = value
		case "no_proxy":
			lower = value
		default:
			return false
		}
		return true
	})
	withLoopback := func(value string) string { return strings.TrimPrefix(value+",127.0.0.1,localhost,::1", ",") }
	return append(others, "NO_PROXY="+withLoopback(cmp.Or(upper, lower)), "no_proxy="+withLoopback(cmp.Or(lower, upper)))
}
