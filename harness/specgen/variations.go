package specgen

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Variations returns transitions from a spec to specs in which one of its fields has another value: one transition
// for each field that can change, and each to another spec. The fields that the spec sets come first, and then those near the top.
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

// depth is how many fields the field is in.
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

// vary returns a valid spec in which the field has another value, and which is not made yet; nil if there is none. Fields that hold others do not
// vary as a whole, but for lists.
func (s *Schema) vary(f *field, spec map[string]any, made map[string]bool) map[string]any {
	if f.schema.Type == "object" && len(f.children) > 0 || !f.reachable() {
		return nil
	}
	current := f.in(spec)
	for _, value := range append(near(current), f.values...) {
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

// reachable tells whether every field around it has a value, in which it can be set.
func (f *field) reachable() bool {
	for outer := f.parent; outer != nil; outer = outer.parent {
		if len(outer.values) == 0 {
			return false
		}
	}
	return true
}

// isDefault tells whether a value is what an absent field has anyway: its default, or a text of no characters.
func (f *field) isDefault(current, value any) bool {
	return current == absent && (value == "" || f.schema.Default != nil && string(f.schema.Default.Raw) == keyOf(value))
}

// near returns values like the current one, which say more than generated ones: one Pod less, another tag. Less comes before
// more: when the field is set back, an operator that then sees an old state has a reason to delete something. So Sieve
// (OSDI'22) found bugs that lose data.
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
		if value == "" || strings.ContainsAny(value, " \n{") {
			return nil // a text, or a template
		}
		return []any{value + "-2"}
	}
	return nil
}
