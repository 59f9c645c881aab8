package oracle_test

import (
	"testing"
	"time"

	"github.com/operator-assay/assay/harness/oracle"
)

func TestLate(t *testing.T) {
	const limit = 3 * time.Second
	slow, prompt := limit+1, limit
	for name, test := range map[string]struct {
		steps     []oracle.TimedStep
		triggered bool
		want      string
	}{
		"on time":                    {[]oracle.TimedStep{{"A", prompt, false}, {"B", prompt, false}}, false, ""},
		"first late step":            {[]oracle.TimedStep{{"A", prompt, false}, {"B", slow, false}, {"C", slow, false}}, false, "B"},
		"late only before the fault": {[]oracle.TimedStep{{"A", slow, false}, {"B", prompt, true}}, true, ""},
		"late before and after":      {[]oracle.TimedStep{{"A", slow, false}, {"B", slow, true}}, true, "B"},
		"fault in the failed step":   {[]oracle.TimedStep{{"A", slow, false}}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if late := oracle.Late(test.steps, limit, test.triggered); late != nil {
				got = late.Name
			}
			if got != test.want {
				t.Errorf("got late step %q, want %q", got, test.want)
			}
		})
	}
}
