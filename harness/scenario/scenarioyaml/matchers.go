package scenarioyaml

// Special values in an assert. Snapshots also print <current> for observedGeneration.
const (
	present = "<present>" // any value
	current = "<current>" // the object's metadata.generation
)

// resolve replaces the special values in want. It uses the actual value (got) and the object's generation.
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
