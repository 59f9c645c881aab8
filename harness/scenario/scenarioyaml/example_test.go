package scenarioyaml_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

func ExampleLoad() {
	folder, err := os.MkdirTemp("", "scenarios-")
	if err != nil {
		fmt.Println(err)
	}
	defer os.RemoveAll(folder)
	for name, content := range map[string]string{
		"role.yaml": `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: greeter}}`,
		"scenarios.yaml": `
role: role.yaml
scenarios:
- name: greeter/create
  steps:
  - apply: {apiVersion: example.com/v1, kind: Greeter, metadata: {name: hello}, spec: {replicas: 2}}
  - assert: {apiVersion: apps/v1, kind: Deployment, metadata: {name: hello}, status: {readyReplicas: 2}}
`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			fmt.Println(err)
		}
	}
	file, err := scenarioyaml.Load(filepath.Join(folder, "scenarios.yaml"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range file.Scenarios {
		fmt.Println(s.Name)
		for _, step := range s.Steps {
			fmt.Println("-", step.Name)
		}
	}
	// Output:
	// greeter/create
	// - Apply(Greeter hello)
	// - Assert(Deployment hello)
}
