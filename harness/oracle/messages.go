package oracle

import "regexp"

// withoutMessages removes the condition messages from the status of an object. According to the Kubernetes API
// conventions, they are for humans. A message often contains the last error or the progress, so messages may differ
// even if the final state is the same.
func withoutMessages(state string) string {
	object, ok := parsed(state).(map[string]any)
	if !ok {
		return state
	}
	walk("", object["status"], func(path string, value any) any {
		if fields, isMap := value.(map[string]any); isMap && condition.MatchString(path) {
			delete(fields, "message")
		}
		return value
	})
	return text(object)
}

// condition matches the path of a condition in a status.
var condition = regexp.MustCompile(`(^|\.)conditions\[\d+\]$`)
