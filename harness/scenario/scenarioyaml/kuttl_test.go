package scenarioyaml_test

import (
	"testing"
	"time"
)

const testStep = "apiVersion: kuttl.dev/v1beta1\nkind: TestStep\n"

func TestAKUTTLTestIsAScenario(t *testing.T) {
	expectSteps(t, map[string]string{
		"README.md":                   "not a step\n",
		"shared.yaml":                 "{apiVersion: v1, kind: ConfigMap, metadata: {name: shared}}\n",
		"deployment.yaml":             deploymentYAML,
		"0-install.yaml":              greeterYAML,
		"00-assert.yaml":              deploymentYAML + "---\napiVersion: kuttl.dev/v1beta1\nkind: TestAssert\ntimeout: 120\ncollectors: [{type: pod, pod: a}]\n",
		"01-errors.yaml":              secretYAML,
		"02-commands/commands.yaml":   testStep + "commands: [{command: kubectl get pods, namespaced: true, timeout: 5}, {script: 'false', ignoreFailure: true, skipLogOutput: true}]\n",
		"02-commands/assert-two.yaml": secretYAML,
		"10-last.yaml":                "{apiVersion: v1, kind: ConfigMap, metadata: {name: last}}\n",
		"9-all.yaml": testStep + "unitTest: false\ntimeout: 5\napply: [shared.yaml]\nassert: [shared.yaml]\nerror: [deployment.yaml]\n" +
			"delete: [{apiVersion: example.com/v1, kind: Greeter, name: hello}]\ncommands: [{command: ls -n a, namespaced: true}]\n---\n" + secretYAML,
	},
		"Apply(Greeter hello)", "Converged", "Assert(Deployment hello)",
		"Error(Secret hello)",
		`Script(kubectl get pods --namespace "$NAMESPACE")`, "Converged", "Script(( …)", "Converged", "Assert(Secret hello)",
		"Delete(Greeter hello)", "Converged", "Error(Greeter hello)", "Script(ls -n a)", "Converged",
		"Apply(ConfigMap shared)", "Converged", "Apply(Secret hello)", "Converged",
		"Assert(ConfigMap shared)", "Error(Deployment hello)",
		"Apply(ConfigMap last)", "Converged",
	)
}

func TestAFailureThatKUTTLIgnoresIsNone(t *testing.T) {
	play := func(command string) error {
		s := loadFolder(t, map[string]string{"00-a.yaml": greeterYAML, "01-a.yaml": testStep + "commands: [" + command + "]\n"})
		return s.Steps[2].Run(t.Context(), newEnv(t, time.Second))
	}
	if err := play("{script: exit 3, ignoreFailure: true}"); err != nil {
		t.Error(err)
	}
	if err := play("{script: exit 3}"); err == nil {
		t.Error("a failure is none")
	}
	if err := play("{command: sleep 60, timeout: 1}"); err == nil || err.Error() != "it has not ended within 1s" {
		t.Error(err)
	}
}

func TestWhatAKUTTLTestNeedsOfKUTTLIsOneLine(t *testing.T) {
	step := func(fields string) map[string]string {
		return map[string]string{"00-step.yaml": testStep + fields + "\n"}
	}
	expectRefused(t, map[string]refusal{
		"a kubeconfig":         {step("kubeconfig: a"), "00-step.yaml: kubeconfig has no counterpart here: run the test by its own tool with --test"},
		"a selector to delete": {step("delete: [{apiVersion: v1, kind: Pod, labels: {a: b}}]"), "delete: labels has no counterpart here"},
		"no file":              {step("apply: [none.yaml]"), "00-step.yaml: apply: none.yaml: no such file"},
		"both":                 {step("commands: [{command: ls, script: ls}]"), "commands: give a command or a script"},
		"a script's namespace": {step("commands: [{script: ls, namespaced: true}]"), "commands: namespaced is for a command: use $NAMESPACE in a script"},
		"no end":               {step("commands: [{command: ls, timeout: -1}]"), `commands: script: timeout "-1s" is no time`},
		"a command's shell":    {step("commands: [{command: ls, shell: bash}]"), "commands: shell has no counterpart here"},
		"an asserted command":  {map[string]string{"00-assert.yaml": "{apiVersion: kuttl.dev/v1beta1, kind: TestAssert, commands: []}\n"}, "00-assert.yaml: commands has no counterpart here"},
		"a CEL expression":     {map[string]string{"00-assert.yaml": "{apiVersion: kuttl.dev/v1beta1, kind: TestAssert, assertAll: []}\n"}, "assertAll has no counterpart here"},
		"a step in an assert":  {map[string]string{"00-assert.yaml": testStep}, "00-assert.yaml: a TestStep in such a file has no counterpart here"},
		"no YAML":              {map[string]string{"00-a.yaml": "["}, "greeter: 00-a.yaml: "},
		"an assert in a step":  {map[string]string{"00-a.yaml": "{apiVersion: kuttl.dev/v1beta1, kind: TestAssert}\n"}, "a TestAssert in such a file has no counterpart here"},
		"a TestFile":           {map[string]string{"00-a.yaml": "{apiVersion: kuttl.dev/v1beta1, kind: TestFile}\n"}, "a TestFile in such a file has no counterpart here"},
		"a template":           {map[string]string{"00-a.gotmpl.yaml": ""}, "00-a.gotmpl.yaml: a file whose name is not such as 00-install.yaml has no counterpart here"},
	})
}
