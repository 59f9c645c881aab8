package oracle

// withoutMessages returns the state of an object without the messages of its conditions. Kubernetes' API conventions call a
// condition's status and reason what programs read, and its message a text for people: how far things have come, or the last
// error. It follows what happened on the way, so it may differ where the end is the same.
func withoutMessages(state string) string {
	object, ok := parsed(state).(map[string]any)
	if !ok {
		return state
	}
	dropMessages("", object["status"])
	return text(object)
}

// dropMessages drops the messages of all lists named conditions in a value that has the given name.
func dropMessages(name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			dropMessages(key, field)
		}
	case []any:
		for _, element := range value {
			if fields, isMap := element.(map[string]any); isMap && name == "conditions" {
				delete(fields, "message")
			}
			dropMessages("", element)
		}
	}
}
