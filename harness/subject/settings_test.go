package subject

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

func TestSettingsKeepCompanions(t *testing.T) {
	companions := []scenarioyaml.Companion{{Deployment: "webhook", Main: "./cmd/webhook", Arguments: []string{"-v"}, Env: map[string]string{"LEVEL": "high"}}, {Deployment: "other", Operator: "bin/other"}}
	s := &Subject{catalogue: &scenarioyaml.File{Settings: scenarioyaml.Settings{Companions: companions}}, options: Options{}}
	text, err := s.Settings([]scenarioyaml.Document{})
	noError(t, err)
	newProject(t, map[string]string{"assay.yaml": string(text)})
	if again, err := scenarioyaml.Load("assay.yaml"); err != nil || !reflect.DeepEqual(again.Companions, companions) {
		t.Errorf("got error %v and settings\n%s", err, text)
	}
}

func TestCommandBecomesScenario(t *testing.T) {
	run := func(command string) error {
		s := TestScenarios([]string{"true", command})[1]
		if s.Name != "test/2" || !s.Steps[0].IsAction {
			t.Errorf("%+v", s)
		}
		return s.Run(t.Context(), &scenario.Env{Namespace: "run-1", Config: &rest.Config{Host: "https://api.example.com"}}, nil)
	}
	if err := run(`grep -q "namespace: run-1" $KUBECONFIG && grep -q https://api.example.com $KUBECONFIG && test $NAMESPACE = run-1`); err != nil {
		t.Error(err)
	}
	err := run("echo expected 3 Pods, got 2; exit 7")
	if err == nil || !strings.Contains(err.Error(), "exit status 7\nexpected 3 Pods, got 2") {
		t.Error(err)
	}
}
