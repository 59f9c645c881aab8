package specgen

import (
	"cmp"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Variations returns at most one transition per field, from the given spec to a valid spec that differs only in that
// field. Fields that the spec sets come first, then the least deeply nested fields.
func (s *Schema) Variations(spec map[string]any) []Transition {
	fields := slices.Clone(s.fields[1:])
	slices.SortStableFunc(fields, func(a, b *field) int {
		return cmp.Or(cmp.Compare(unset(a, spec), unset(b, spec)), cmp.Compare(a.depth(), b.depth()))
	})
	var variations []Transition
	made := map[string]bool{keyOf(spec): true}
	for _, f := range fields {
		if changed := s.vary(f, spec, made); changed != nil {
			made[keyOf(changed)] = true
			variations = append(variations, Transition{From: asObject(spec), To: changed, Changed: []string{f.path()}})
		}
	}
	return variations
}

func (f *field) depth() int {
	depth := 0
	for outer := f.parent; outer != nil; outer = outer.parent {
		depth++
	}
	return depth
}

func unset(f *field, spec map[string]any) int {
	if f.in(spec) == absent {
		return 1
	}
	return 0
}

// vary returns a valid spec that is not in made and in which the field has a different value. If no such spec exists,
// it returns nil. It skips objects, because their fields are varied individually.
func (s *Schema) vary(f *field, spec map[string]any, made map[string]bool) map[string]any {
	if f.schema.Type == "object" && len(f.children) > 0 || !f.reachable() {
		return nil
	}
	current := f.in(spec)
	values := append(near(current), f.values...)
	if f.isKnown {
		values = f.values
	}
	for _, value := range values {
		if keyOf(value) == keyOf(current) || f.isDefault(current, value) {
			continue
		}
		changed := f.with(spec, value)
		if !made[keyOf(changed)] && s.rules.check(changed) == nil && len(changedFields(spec, asObject(changed))) > 0 {
			return asObject(changed)
		}
	}
	return nil
}

// reachable reports whether all parents have known values, so that the field can be set.
func (f *field) reachable() bool {
	for outer := f.parent; outer != nil; outer = outer.parent {
		if len(outer.values) == 0 {
			return false
		}
	}
	return true
}

// isDefault reports whether setting value has no effect, because the field is absent and value is its default or empty.
func (f *field) isDefault(current, value any) bool {
	return current == absent && (value == "" || f.schema.Default != nil && string(f.schema.Default.Raw) == keyOf(value))
}

// near returns values that are similar to the current one, such as one replica less or another tag. They are more
// realistic than generated values. The smaller number comes first, because an operator that reads stale state may
// delete something when the original number is restored. Sieve (OSDI'22) found data-loss bugs this way.
func near(current any) []any {
	switch value := current.(type) {
	case int64:
		if value > 1 {
			return []any{value - 1, value + 1}
		}
		return []any{value + 1, value - 1}
	case string:
		if duration, err := time.ParseDuration(value); err == nil {
			return []any{(2 * duration).String()}
		}
		if quantity, err := resource.ParseQuantity(value); err == nil {
			quantity.Add(quantity)
			return []any{quantity.String()}
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
