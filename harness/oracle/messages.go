package oracle

// withoutMessages returns the state of an object without the messages of its conditions. Kubernetes' API conventions call a
// condition's status and reason what programs read, and its message a text for people: how far things have come, or the last
// error. It follows what happened on the way, so it may differ where the end is the same.
func withoutMessages(state string) string {
	object, ok := parsed(state).(map[string]any)
	if !ok {
		return state
	}
	dropMessages(object["status"])
	return text(object)
}

// dropMessages drops the messages of the elements of all lists named conditions.
func dropMessages(value any) {
	switch value := value.(type) {
	case map[string]any:
		conditions, _ := value["conditions"].([]any)
		for _, condition := range conditions {
			fields, _ := condition.(map[string]any)
			delete(fields, "message")
		}
		for _, field := range value {
			dropMessages(field)
		}
	case []any:
		for _, element := range value {
			dropMessages(element)
		}
	}
}
