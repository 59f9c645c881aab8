package scenarios

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/record"
)

func TestNodePortChangesOnlyToThePortInTheStatus(t *testing.T) {
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
		"unchanged":                              {[]record.ObjectVersion{has(30001), names(30001), has(30001)}, false},
		"changed":                                {[]record.ObjectVersion{has(30001), names(30001), has(30002)}, true},
		"changed before the status names it":     {[]record.ObjectVersion{has(30001), has(30002)}, true},
		"changed together with the status":       {[]record.ObjectVersion{has(30001), names(30001), has(30002), names(30002)}, true},
		"changed back to the port in the status": {[]record.ObjectVersion{names(30001), has(30002), has(30001)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := NodePortsStay(test.history); (err != nil) != test.changed {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestLeakedNodePort(t *testing.T) {
	web := version("WebServer", "web", "", false).Unstructured
	service := func(port int64) *unstructured.Unstructured {
		v := version("Service", "web-service", "web", false)
		v.Object["spec"] = map[string]any{"ports": []any{map[string]any{"nodePort": port}}}
		return v.Unstructured
	}
	for name, test := range map[string]struct {
		message string
		service *unstructured.Unstructured
		want    bool
	}{
		"the port is allocated":          {"the Service cannot be written: " + PortIsAllocated, service(30002), true},
		"another problem":                {"exceeded quota", service(30002), false},
		"the WebServer's Service has it": {PortIsAllocated, service(30001), false},
	} {
		web.Object["status"] = map[string]any{"nodePort": int64(30001), "conditions": []any{map[string]any{"type": "Degraded", "message": test.message}}}
		if got := HasLeakedNodePort([]unstructured.Unstructured{*web, *test.service}); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
}
