package specgen

import (
	"net/netip"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// near returns values that are similar to the current one, such as one fewer replica or a different tag. They are more
// realistic than generated values. For a number above 1, the smaller value comes first, because an operator with stale
// state may scale down again after the original number is restored. Sieve (OSDI'22) found data-loss bugs this way.
func near(current any) []any {
	switch value := current.(type) {
	case int64:
		if value > 1 {
			return []any{value - 1, value + 1}
		}
		return []any{value + 1, value - 1}
	case string:
		if quantity, err := resource.ParseQuantity(value); err == nil { // twice 5m is 10m, even if it is a duration
			quantity.Add(quantity)
			return []any{quantity.String()}
		}
		if duration, err := time.ParseDuration(value); err == nil {
			return []any{(2 * duration).String()}
		}
		if other := nearFormat(value); other != "" {
			return []any{other}
		}
		if value == "" || strings.ContainsAny(value, " \n{") {
			return nil // do not change free text and templates
		}
		return []any{value + "-2"}
	}
	return nil
}

var (
	cron    = regexp.MustCompile(`^[\d*/,-]+( [\d*/,A-Za-z-]+){4}$`)
	percent = regexp.MustCompile(`^\d+%$`)
)

// nearFormat returns a different IP address, IP range, percentage or cron schedule, or "" for other formats.
func nearFormat(value string) string {
	if address, err := netip.ParseAddr(value); err == nil {
		return address.Next().String()
	}
	prefix, err := netip.ParsePrefix(value)
	switch {
	case err == nil && prefix.Bits() > 0:
		return netip.PrefixFrom(prefix.Addr(), prefix.Bits()-1).Masked().String()
	case percent.MatchString(value) && value != "50%":
		return "50%"
	case percent.MatchString(value):
		return "25%"
	case cron.MatchString(value) && value != "30 4 * * *":
		return "30 4 * * *"
	case cron.MatchString(value):
		return "*/5 * * * *"
	}
	return ""
}
