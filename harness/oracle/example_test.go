package oracle_test

import (
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

// The snapshots of two namespaces are equal if the objects differ only in values that the API server generates, such
// as names, UIDs and timestamps.
func ExampleDiff() {
	configMap := func(namespace, data string) unstructured.Unstructured {
		return unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"namespace": namespace, "name": "greeting", "uid": "uid-in-" + namespace},
			"data":     map[string]any{"greeting": data, "from": namespace},
		}}
	}
	reference := oracle.NewSnapshot("run-7x2lq", []unstructured.Unstructured{configMap("run-7x2lq", "hello")})
	for namespace, data := range map[string]string{"run-9kd4m": "bye"} {
		got := oracle.NewSnapshot(namespace, []unstructured.Unstructured{configMap(namespace, data)})
		fmt.Print(oracle.Diff(reference, got))
	}
	// Output:
	// --- want ConfigMap/greeting
	// +++ got ConfigMap/greeting (differs in data.greeting)
	// @@ -1,7 +1,7 @@
	//  apiVersion: v1
	//  data:
	//    from: <namespace>
	// -  greeting: hello
	// +  greeting: bye
	//  kind: ConfigMap
	//  metadata:
	//    name: greeting
}

// BoundedRetries reports requests that are retried without a backoff.
func ExampleBoundedRetries() {
	var requests record.Requests
	for i := range 100 {
		requests = append(requests, record.Request{
			Verb: "update", Resource: "services", Namespace: "run", Name: "web", Status: http.StatusConflict,
			Time: time.Unix(0, 0).Add(time.Duration(i) * time.Millisecond),
		})
	}
	fmt.Println(oracle.BoundedRetries(requests))
	// Output: update services run/web was sent 51 times within 2s
}

// CheckExact reports permissions that the operator does not use.
func ExamplePermissions_CheckExact() {
	granted, err := oracle.Granted([]byte(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [get, delete]}
`))
	if err != nil {
		fmt.Println(err)
	}
	used := oracle.Permissions{}
	used.Add(record.Requests{
		{Verb: "get", Group: "apps", Resource: "deployments"},
		{Verb: "apply", Group: "apps", Resource: "deployments", Status: http.StatusOK},
	})
	fmt.Println(used.CheckExact(granted))
	// Output:
	// delete deployments.apps is granted but never used
	// patch deployments.apps is used but not granted
}
