package scenarioyaml_test

import (
	"strings"
	"testing"
	"time"
)

// chainsawTest is a Chainsaw test of one step.
func chainsawTest(operations string) map[string]string {
	return map[string]string{"chainsaw-test.yaml": "spec: {steps: [{try: [{apply: {resource: " + strings.TrimSpace(greeterYAML) + "}}, " + operations + "]}]}\n"}
}

func TestAChainsawTestIsAScenario(t *testing.T) {
	s := expectSteps(t, map[string]string{"greeter.yaml": greeterYAML, "expected/deployment.yaml": deploymentYAML, "expected/secret.yml": secretYAML, "chainsaw-test.yaml": `
apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: greeter}
spec:
  description: a greeter greets
  namespace: default
  timeouts: {assert: 1m, exec: 2m}
  concurrent: false
  skipDelete: true
  catch: [{events: {}}]
  steps:
  - name: install
    timeouts: {apply: 10s}
    try:
    - description: install
      apply: {file: gre*.yaml, timeout: 5s}
    - assert: {resource: ` + strings.TrimSpace(deploymentYAML) + `, timeout: 5s}
      continueOnError: true
    - assert: {file: expected}
    - wait: {apiVersion: v1, kind: Secret, name: hello, namespace: ($namespace), timeout: 1m, for: {creation: {}}}
    catch: [{sleep: {duration: 5s}}, {podLogs: {}}]
    finally:
    - script: {content: "kubectl get greeter hello\nkubectl get pods", timeout: 5s, env: [{name: A, value: b}]}
    - describe: {apiVersion: v1, kind: Pod}
    cleanup:
    - delete: {ref: {apiVersion: v1, kind: ConfigMap, name: first-cleanup}}
  - try:
    - command: {entrypoint: kubectl, args: [get, greeter, -n, $NAMESPACE, 'a "b" $(c)'], skipLogOutput: true}
    - patch: {resource: ` + strings.TrimSpace(greeterYAML) + `}
    - delete: {ref: {apiVersion: example.com/v1, kind: Greeter, name: hello, namespace: default}}
    - error: {resource: ` + strings.TrimSpace(deploymentYAML) + `}
    - wait: {apiVersion: v1, kind: Secret, name: hello, for: {deletion: {}}}
    - events: {}
    cleanup:
    - delete: {ref: {apiVersion: v1, kind: ConfigMap, name: last-cleanup}}
`},
		"Apply(Greeter hello)", "Converged",
		"Assert(Deployment hello)", "Assert(Deployment hello)", "Assert(Secret hello)", "Assert(Secret hello)",
		"Script(kubectl get greeter hello …)", "Converged",
		`Script(kubectl get greeter -n "$NAMESPACE" "a \"b\" \$(c)")`, "Converged",
		"Patch(Greeter hello)", "Converged",
		"Delete(Greeter hello)", "Converged", "Error(Greeter hello)",
		"Error(Deployment hello)", "Error(Secret hello)",
		"Delete(ConfigMap last-cleanup)", "Converged", "Error(ConfigMap last-cleanup)",
		"Delete(ConfigMap first-cleanup)", "Converged", "Error(ConfigMap first-cleanup)",
	)
	if s.Subject.Kind != "Greeter" {
		t.Errorf("it is about %s", s.Subject.Kind)
	}
}

func TestTheNameOfAChainsawTestMayEndInYML(t *testing.T) {
	expectSteps(t, map[string]string{"chainsaw-test.yml": chainsawTest("{assert: {resource: " + strings.TrimSpace(secretYAML) + "}}")["chainsaw-test.yaml"]},
		"Apply(Greeter hello)", "Converged", "Assert(Secret hello)")
}

func TestAScriptOfAChainsawTestHasItsFolderAndItsTimeLimit(t *testing.T) {
	play := func(limits, operation string) error {
		s := loadFolder(t, map[string]string{
			"file":               "",
			"chainsaw-test.yaml": "spec: {timeouts: {exec: 1ms}, steps: [{timeouts: {" + limits + "}, try: [{apply: {resource: " + strings.TrimSpace(greeterYAML) + "}}, " + operation + "]}]}\n",
		})
		return s.Steps[2].Run(t.Context(), newEnv(t, time.Second))
	}
	if err := play("exec: 1m", "{script: {content: test -e file}}"); err != nil {
		t.Error(err)
	}
	if err := play("exec: 1m", "{command: {entrypoint: test, args: [$NAMESPACE, '!=', $NAME], env: [{name: NAME, value: a b}]}}"); err != nil {
		t.Error(err)
	}
	if err := play("exec: 1m", `{command: {entrypoint: sh, args: [-c, "test \"$0\" = '$$A'", $$A]}}`); err != nil {
		t.Error(err)
	}
	if err := play("apply: 1m", "{script: {content: sleep 60}}"); err == nil || err.Error() != "it has not ended within 1ms" {
		t.Error(err)
	}
	if err := play("exec: 1m", "{script: {content: sleep 60, timeout: 2ms}}"); err == nil || err.Error() != "it has not ended within 2ms" {
		t.Error(err)
	}
}

func TestWhatAChainsawTestNeedsOfChainsawIsOneLine(t *testing.T) {
	spec := func(spec string) map[string]string {
		return map[string]string{"chainsaw-test.yaml": "spec: {" + spec + "}\n"}
	}
	const itsOwnTool = "run the test by its own tool with --test"
	expectRefused(t, map[string]refusal{
		"no YAML":              {map[string]string{"chainsaw-test.yaml": "spec: ["}, "chainsaw-test.yaml: "},
		"two tests":            {map[string]string{"chainsaw-test.yaml": "spec: {}\n---\nspec: {}\n"}, "2 documents: give each test a folder of its own"},
		"a field of the test":  {spec("bindings: [], steps: []"), "chainsaw-test.yaml: bindings has no counterpart here: " + itsOwnTool},
		"a skipped test":       {spec("skip: true"), "skip has no counterpart here"},
		"a step's template":    {spec("steps: [{try: []}, {use: {template: a.yaml}}]"), "step 2: use has no counterpart here: " + itsOwnTool},
		"a step's cluster":     {spec("steps: [{cluster: a}]"), "step 1: cluster has no counterpart here"},
		"no spec":              {map[string]string{"chainsaw-test.yaml": "kind: Test\n"}, "no steps: give at least one"},
		"nothing applied":      {spec("steps: []"), "no steps: give at least one"},
		"a field of a step":    {chainsawTest("{apply: {file: a.yaml, expect: []}}"), "step 1: apply: expect has no counterpart here: " + itsOwnTool},
		"a subresource":        {chainsawTest("{patch: {file: a.yaml, subresource: status}}"), "patch: subresource has no counterpart here"},
		"two operations":       {chainsawTest("{apply: {}, assert: {}}"), "step 1: 2 actions in an operation (apply, assert)"},
		"no operation":         {chainsawTest("{description: a}"), "step 1: no action in an operation: give it one such as apply"},
		"a sleep":              {chainsawTest("{sleep: {duration: 5s}}"), "step 1: sleep: a time proves nothing: assert the state that it waits for"},
		"a sleep in the end":   {spec("steps: [{try: [], finally: [{sleep: {duration: 5s}}]}]"), "step 1: sleep: a time proves nothing"},
		"a proxy":              {chainsawTest("{proxy: {}}"), "step 1: proxy has no counterpart here: " + itsOwnTool},
		"a script's check":     {chainsawTest("{script: {content: ls, check: {($error): null}}}"), "script: check has no counterpart here: " + itsOwnTool},
		"a script's outputs":   {chainsawTest("{script: {content: ls, outputs: []}}"), "script: outputs has no counterpart here"},
		"a script's variable":  {chainsawTest("{script: {content: ls, env: [{name: a, value: ($b)}]}}"), "script: env: the expression ($b) is not evaluated here"},
		"an empty script":      {chainsawTest("{script: {}}"), "step 1: script: script needs content"},
		"a command's folder":   {chainsawTest("{command: {entrypoint: ls, workDir: a}}"), "command: workDir has no counterpart here"},
		"no entrypoint":        {chainsawTest("{command: {args: [ls]}}"), "step 1: command: name the program as entrypoint"},
		"a condition":          {chainsawTest("{wait: {apiVersion: v1, kind: Pod, name: a, for: {condition: {name: Ready}}}}"), "wait: condition has no counterpart here"},
		"a selector to delete": {chainsawTest("{delete: {ref: {apiVersion: v1, kind: Pod, labels: {a: b}}}}"), "delete: labels has no counterpart here"},
		"no name to delete":    {chainsawTest("{delete: {ref: {apiVersion: v1, kind: Pod}}}"), "delete: delete needs metadata.name"},
		"an expression":        {chainsawTest("{assert: {resource: {apiVersion: v1, kind: Pod, metadata: {name: a}, (status.phase): Running}}}"), "the expression (status.phase) is not evaluated here"},
		"an element of each":   {chainsawTest("{assert: {resource: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {~.containers: {image: a}}}}}"), "the expression ~.containers is not evaluated here"},
		"a binding":            {chainsawTest("{assert: {resource: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec->spec: {a: b}}}}"), "the expression spec->spec is not evaluated here"},
		"an expression's text": {chainsawTest("{apply: {resource: {apiVersion: v1, kind: Pod, metadata: {name: ($a)}}}}"), "the expression ($a) is not evaluated here"},
		"two namespaces":       {chainsawTest("{assert: {resource: {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: kube-system}}}}"), "assert: the namespaces default and kube-system: a run has one only"},
		"the test's namespace": {spec("namespace: mine, steps: [{try: [{apply: {resource: " + strings.TrimSpace(greeterYAML) + "}}]}]"), "apply: the namespaces mine and default"},
		"no YAML in a file":    {map[string]string{"a.yaml": "[", "chainsaw-test.yaml": "spec: {steps: [{try: [{apply: {file: '*.yaml'}}]}]}\n"}, "step 1: apply: a.yaml: "},
		"no object in a file":  {map[string]string{"a.yaml": "- a", "chainsaw-test.yaml": "spec: {steps: [{try: [{apply: {file: a.yaml}}]}]}\n"}, "step 1: apply: a.yaml: a document is no object: give it fields"},
		"no file":              {chainsawTest("{apply: {file: none.yaml}}"), "apply: none.yaml: no such file"},
		"no file of a pattern": {chainsawTest("{apply: {file: none*.yaml}}"), "apply: none*.yaml: no such file"},
		"neither":              {chainsawTest("{apply: {}}"), "apply: name a file or an object"},
	})
}
