package verdict

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestUnstable(t *testing.T) {
	for confirmation, want := range map[Confirmation]bool{
		{Played: 3, Failed: 2, PlayedWithoutFault: 2}:  false,
		{Played: 2, Failed: 2, PlayedWithoutFault: 3}:  false,
		{Played: 2, Failed: 1, PlayedWithoutFault: 3}:  true,
		{Played: 1, Failed: 1, PlayedWithoutFault: 4}:  true,
		{PlayedWithoutFault: 5, FailedWithoutFault: 1}: true,
	} {
		if got := confirmation.Unstable(); got != want {
			t.Errorf("%s: got %t, want %t", &confirmation, got, want)
		}
	}
	if (*Confirmation)(nil).Unstable() {
		t.Error("got unstable without a confirmation, want false")
	}
	NewWithT(t).Expect(anyway.String()).To(Equal("3 of 3 times with the fault, 1 of 2 times without it"))
}

func TestGroupNext(t *testing.T) {
	for name, test := range map[string]struct {
		confirmed []*Confirmation
		underway  int // index of the plan that is being rerun, or -1
		want      int // index of the next plan, or -1
	}{
		"no confirmation":                {[]*Confirmation{nil, nil}, -1, 0},
		"first is being rerun":           {[]*Confirmation{nil, nil}, 0, -1},
		"first did not recur":            {[]*Confirmation{seldom, nil, nil}, -1, 1},
		"two did not recur":              {[]*Confirmation{seldom, seldom, nil}, -1, 2},
		"three did not recur":            {[]*Confirmation{seldom, seldom, seldom, nil}, -1, -1},
		"one did":                        {[]*Confirmation{again, nil}, -1, -1},
		"first failed without the fault": {[]*Confirmation{anyway, nil}, -1, -1},
		"second did not recur":           {[]*Confirmation{again, seldom, nil}, -1, -1},
		"no plans left":                  {[]*Confirmation{seldom}, -1, -1},
	} {
		var group Group
		for i := range test.confirmed {
			group.Plans = append(group.Plans, i)
		}
		got, is := group.Next(func(i int) (*Confirmation, bool) { return test.confirmed[i], i == test.underway })
		if is != (test.want >= 0) || is && got != test.want {
			t.Errorf("%s: got %d, %t, want %d", name, got, is, test.want)
		}
	}
}

func findings(oracles ...Oracle) []Finding {
	var all []Finding
	for _, oracle := range oracles {
		all = append(all, Finding{Oracle: oracle})
	}
	return all
}

func TestTrialCountsSimilarFailures(t *testing.T) {
	g := NewWithT(t)
	trial := Trial{Example: findings(Reference)}
	trial.AddWithFault(findings(Counts, Reference))
	trial.AddWithFault(findings(Stable))
	trial.AddWithFault(nil)
	trial.AddWithoutFault(findings(Reference))
	trial.AddWithoutFault(nil)
	g.Expect(trial.Confirmation).To(Equal(Confirmation{Played: 3, Failed: 1, PlayedWithoutFault: 2, FailedWithoutFault: 1}))
}

func TestLossIsHealedIfEveryRerunIsLate(t *testing.T) {
	for name, test := range map[string]struct {
		example []Finding
		again   [][]Finding
		healed  bool
	}{
		"wrong state, twice late":     {findings(Reference, Counts), [][]Finding{findings(Late), findings(Counts, Late)}, true},
		"not converged, twice late":   {findings(Late, Converges), [][]Finding{findings(Late), findings(Late)}, true},
		"values disagree, twice late": {findings(Agreement), [][]Finding{findings(Late), findings(Late)}, true},
		"late once, lost once":        {findings(Reference), [][]Finding{findings(Late), findings(Reference)}, false},
		"late once, passed once":      {findings(Reference), [][]Finding{findings(Late), nil}, false},
		"late and wrong":              {findings(Reference), [][]Finding{findings(Late, Reference), findings(Late, Reference)}, false},
		"failure other than a loss":   {findings(Counts), [][]Finding{findings(Late), findings(Late)}, false},
		"no rerun":                    {findings(Reference), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			trial := Trial{Example: test.example}
			trial.AddWithFault(test.example)
			for _, again := range test.again {
				trial.AddWithFault(again)
			}
			g.Expect(trial.IsHealed()).To(Equal(test.healed))
			if test.healed {
				g.Expect(trial.Heal(findings(Counts, Late, Reference))).To(Equal(findings(Counts, Late)))
				g.Expect(trial.Heal(findings(Counts))).To(Equal(findings(Counts)), "findings without a loss are not modified")
				g.Expect(trial.Failed).To(Equal(3))
			}
		})
	}
}
