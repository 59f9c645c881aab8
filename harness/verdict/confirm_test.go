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
		t.Error("a failure that was not run again is unstable")
	}
}

func TestNextPlanOfAGroup(t *testing.T) {
	for name, test := range map[string]struct {
		confirmed []*Confirmation
		underway  int // index of the plan that is being rerun; -1 if there is none
		want      int // -1 if there is none
	}{
		"none yet":                  {[]*Confirmation{nil, nil}, -1, 0},
		"the first is under way":    {[]*Confirmation{nil, nil}, 0, -1},
		"the first did not":         {[]*Confirmation{seldom, nil, nil}, -1, 1},
		"two did not":               {[]*Confirmation{seldom, seldom, nil}, -1, 2},
		"three did not":             {[]*Confirmation{seldom, seldom, seldom, nil}, -1, -1},
		"one did":                   {[]*Confirmation{again, nil}, -1, -1},
		"one did without the fault": {[]*Confirmation{anyway, nil}, -1, -1},
		"all were run again":        {[]*Confirmation{seldom}, -1, -1},
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

func TestTrialCountsWhatFailsAlike(t *testing.T) {
	g := NewWithT(t)
	trial := Trial{Example: findings(Reference)}
	trial.AddWithFault(findings(Counts, Reference))
	trial.AddWithFault(findings(Stable))
	trial.AddWithFault(nil)
	trial.AddWithoutFault(findings(Reference))
	trial.AddWithoutFault(nil)
	g.Expect(trial.Confirmation).To(Equal(Confirmation{Played: 3, Failed: 1, PlayedWithoutFault: 2, FailedWithoutFault: 1}))
}

func TestLossThatIsHealedEachTimeIsLate(t *testing.T) {
	for name, test := range map[string]struct {
		example []Finding
		again   [][]Finding
		healed  bool
	}{
		"a wrong state, twice late":  {findings(Reference, Counts), [][]Finding{findings(Late), findings(Counts, Late)}, true},
		"never reached, twice late":  {findings(Late, Converges), [][]Finding{findings(Late), findings(Late)}, true},
		"once late, once lost":       {findings(Reference), [][]Finding{findings(Late), findings(Reference)}, false},
		"once late, once right":      {findings(Reference), [][]Finding{findings(Late), nil}, false},
		"late and lost":              {findings(Reference), [][]Finding{findings(Late, Reference), findings(Late, Reference)}, false},
		"what was no loss":           {findings(Counts), [][]Finding{findings(Late), findings(Late)}, false},
		"a plan that is run no more": {findings(Reference), nil, false},
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
				g.Expect(trial.Heal(findings(Counts))).To(Equal(findings(Counts)), "a plan that lost nothing stays as it is")
				g.Expect(trial.Failed).To(Equal(3))
			}
		})
	}
}
