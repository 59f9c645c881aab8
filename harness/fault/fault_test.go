package fault

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestParseReadsWhatStringWrote(t *testing.T) {
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

func TestParseRejectsInOneLine(t *testing.T) {
	for text, complaint := range map[string]string{
		"":                                      `"" is no fault: want one of [crash-after crash-before `,
		"  ":                                    `"  " is no fault: want one of`,
		"explode create configmaps - 1":         `"explode create configmaps - 1" is no fault: want one of`,
		"crash-after":                           `fault "crash-after": want the verb, resource, name or -, and the number of the request, such as`,
		"crash-after create configmaps 1":       `fault "crash-after create configmaps 1": want the verb, resource,`,
		"crash-after create configmaps - 1 2":   `fault "crash-after create configmaps - 1 2": want the verb, resource,`,
		"slow-reads create":                     `fault "slow-reads create": slow-reads applies to every request, so name none`,
		"stale get configmaps web 1":            `fault "stale get configmaps web 1": stale applies to a watch: want one such as "stale watch deployments.apps - 1"`,
		"crash-after create configmaps - none":  `fault "crash-after create configmaps - none": the last word is not a number from 1 on`,
		"crash-after create configmaps - 0":     `fault "crash-after create configmaps - 0": the last word is not a number from 1 on`,
		"crash-after create configmaps - 1.5":   `fault "crash-after create configmaps - 1.5": the last word is not a number from 1 on`,
		"crash-after create\nconfigmaps - -1\n": `the last word is not a number from 1 on`,
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			_, err := Parse(text)
			g.Expect(err).To(MatchError(ContainSubstring(complaint)))
			g.Expect(strings.Count(err.Error(), "\n")).To(BeZero())
		})
	}
}
