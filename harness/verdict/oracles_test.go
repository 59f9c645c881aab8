package verdict

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestSeverityOfWorstFinding(t *testing.T) {
	g := NewWithT(t)
	severity := func(names ...Oracle) Severity {
		var findings []Finding
		for _, name := range names {
			findings = append(findings, Finding{Oracle: name})
		}
		return SeverityOf(findings)
	}
	for name, want := range map[Oracle]Severity{
		Panics: "panic", Converges: "lost", Reference: "lost", Stable: "hot-loop", Retries: "hot-loop", Invariants: "lied", Late: "late", Counts: "churn", Agreement: "lost", Deletions: "lost", Recreates: "lost",
	} {
		g.Expect(severity(name)).To(Equal(want), string(name))
		g.Expect(severity(Counts, name)).To(Equal(want), string(name))
		g.Expect(severity(name, Counts)).To(Equal(want), string(name))
	}
}

func TestLateAndChurnDoNotFailByDefault(t *testing.T) {
	NewWithT(t).Expect(FailsOn).To(Equal([]Severity{"panic", "lost", "hot-loop", "lied"}))
}

func TestUnknownOracleIsAnError(t *testing.T) {
	g := NewWithT(t)
	for _, known := range oracles {
		var read Oracle
		g.Expect(read.UnmarshalText([]byte(known.Oracle))).To(Succeed())
		g.Expect(read).To(Equal(known.Oracle))
	}
	g.Expect(new(Oracle).UnmarshalText([]byte("guess"))).To(MatchError(`there is no oracle "guess"`))
}

func TestUnknownSeverityIsAnError(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ParseSeverities([]string{"lost", " churn"})).To(Equal([]Severity{Lost, Churn}))
	_, err := ParseSeverities([]string{"bad"})
	g.Expect(err).To(MatchError(ContainSubstring(`"bad"`)))
}
