package scenarioyaml

// The values that an assert may have in place of a literal one. Snapshots print observedGeneration in the same way.
const (
	present = "<present>" // any value
	current = "<current>" // the object's metadata.generation
)

// resolve replaces the matchers in an asserted value by what they stand for, given the actual value.
func resolve(want, got any, generation int64) any {
	switch want := want.(type) {
	case string:
		switch {
		case want == present && got != nil:
			return got
		case want == current:
			return generation
		}
	case map[string]any:
		fields, _ := got.(map[string]any)
		resolved := map[string]any{}
		for key, value := range want {
			resolved[key] = resolve(value, fields[key], generation)
		}
		return resolved
	case []any:
		elements, _ := got.([]any)
		resolved := make([]any, len(want))
		for i, value := range want {
			var element any
			if i < len(elements) {
				element = elements[i]
			}
			resolved[i] = resolve(value, element, generation)
		}
		return resolved
	}
	return want
}
