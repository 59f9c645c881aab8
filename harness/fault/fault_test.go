package fault

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestParseString(t *testing.T) {
	at := RequestKey{Verb: "update", Target: "deployments.apps/status", Name: "web", Nth: 12}
	for _, faultType := range Types() {
		fault := Fault{Type: faultType, At: at}
		switch {
		case fault.OfWatch():
			fault.At = RequestKey{Verb: "watch", Target: "deployments.apps", Name: "-", Nth: 2}
		case faultType.Category() == Latency:
			fault.At = RequestKey{}
		}
		NewWithT(t).Expect(Parse(fault.String())).To(Equal(fault))
	}
	g := NewWithT(t)
	g.Expect(Fault{Type: CrashAfter, At: at}.String()).To(Equal("crash-after update deployments.apps/status web 12"))
	g.Expect(Fault{Type: SlowReads}.String()).To(Equal("slow-reads"))
	g.Expect(Parse("  connection-reset \t create configmaps  -  1\n")).To(Equal(Fault{Type: ConnectionReset, At: RequestKey{"create", "configmaps", "-", 1}}))
}

func TestParseErrorIsOneLine(t *testing.T) {
	for text, complaint := range map[string]string{
		"":                                      `unknown fault "": use one of crash-after, crash-before`,
		"  ":                                    `unknown fault "  "`,
		"explode create configmaps - 1":         `unknown fault "explode create configmaps - 1"`,
		"crash-after":                           `fault "crash-after": the request must have`,
		"crash-after create configmaps 1":       `fault "crash-after create configmaps 1": the request must have`,
		"crash-after create configmaps - 1 2":   `fault "crash-after create configmaps - 1 2": the request must have`,
		"slow-reads create":                     `fault "slow-reads create": slow-reads applies to all requests`,
		"stale get configmaps web 1":            `fault "stale get configmaps web 1": stale requires a watch, for example "stale watch deployments.apps - 1"`,
		"crash-after create configmaps - none":  `fault "crash-after create configmaps - none": the request must have`,
		"crash-after create configmaps - 0":     `fault "crash-after create configmaps - 0": the request must have`,
		"crash-after create configmaps - 1.5":   `fault "crash-after create configmaps - 1.5": the request must have`,
		"crash-after create\nconfigmaps - -1\n": `and a positive number`,
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			_, err := Parse(text)
			g.Expect(err).To(MatchError(ContainSubstring(complaint)))
			g.Expect(strings.Count(err.Error(), "\n")).To(BeZero())
		})
	}
}
