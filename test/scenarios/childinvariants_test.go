package scenarios

import (
	"testing"

	"github.com/operator-assay/assay/harness/record"
)

func TestANodePortChangesOnlyToTheOneThatTheStatusNames(t *testing.T) {
	names := func(port int64) record.ObjectVersion {
		v := version("WebServer", "resource", "", false)
		v.Object["status"] = map[string]any{"nodePort": port}
		return v
	}
	has := func(port int64) record.ObjectVersion {
		v := version("Service", "web", "resource", false)
		v.Object["spec"] = map[string]any{"ports": []any{map[string]any{"name": "http", "nodePort": port}}}
		return v
	}
	for name, test := range map[string]struct {
		history []record.ObjectVersion
		changed bool
	}{
		"it stays":                             {[]record.ObjectVersion{has(30001), names(30001), has(30001)}, false},
		"it becomes another":                   {[]record.ObjectVersion{has(30001), names(30001), has(30002)}, true},
		"before a status names it":             {[]record.ObjectVersion{has(30001), has(30002)}, true},
		"the status follows it":                {[]record.ObjectVersion{has(30001), names(30001), has(30002), names(30002)}, true},
		"back to the one of a deleted Service": {[]record.ObjectVersion{names(30001), has(30002), has(30001)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := NodePortsStay(test.history); (err != nil) != test.changed {
				t.Errorf("got %v", err)
			}
		})
	}
}
