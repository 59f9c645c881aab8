package oracle

// withoutMessages removes the condition messages from the status of an object. According to the Kubernetes API
// conventions, they are for humans. A message often contains the last error or the progress, so messages may differ
// even if the final state is the same.
func withoutMessages(state string) string {
	object, ok := parsed(state).(map[string]any)
	if !ok {
		return state
	}
	dropMessages(object["status"])
	return text(object)
}

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
