package scenarioyaml_test

import (
	"testing"
	"time"
)

func TestSkipLogOutput(t *testing.T) {
	const script = "{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}, {script: {content: echo failed; exit 3, skipLogOutput: "
	for skip, want := range map[string]string{"true": "exit status 3", "false": "exit status 3\nfailed"} {
		catalogue := load(t, write(t, "scenarios: [{name: a/b, steps: ["+script+skip+"}}]}]\n"))
		if err := catalogue.Scenarios[0].Steps[1].Run(t.Context(), newEnv(t, time.Second)); err == nil || err.Error() != want {
			t.Errorf("skipLogOutput: %s: got error %v, want %q", skip, err, want)
		}
	}
}
