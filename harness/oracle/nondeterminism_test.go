package oracle

import (
	"slices"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestNormalizeHidesVaryingFields(t *testing.T) {
	for name, test := range map[string]struct{ one, two, third string }{
		"no difference":                {`{"a":1}`, `{"a":1}`, `{"a":1}`},
		"field":                        {`{"a":1,"b":{"c":"x"}}`, `{"a":1,"b":{"c":"y"}}`, `{"a":1,"b":{"c":"z"}}`},
		"field of an element":          {`{"a":[{"b":1,"c":1}]}`, `{"a":[{"b":1,"c":2}]}`, `{"a":[{"b":1,"c":3}]}`},
		"element":                      {`{"a":["x","y"]}`, `{"a":["x","z"]}`, `{"a":["x","w"]}`},
		"length of a list":             {`{"a":[1]}`, `{"a":[1,2]}`, `{"a":[1,2,3]}`},
		"shorter list":                 {`{"a":[1,2]}`, `{"a":[1]}`, `{"a":[1,2,3]}`},
		"nested list":                  {`{"a":[[1],[2]]}`, `{"a":[[1],[2,3]]}`, `{"a":[[1],[4]]}`},
		"type of a value":              {`{"a":"x"}`, `{"a":{"b":"x"}}`, `{"a":["x"]}`},
		"field only in the first run":  {`{"a":1,"b":2}`, `{"a":1}`, `{"a":1}`},
		"field only in the second run": {`{"a":1}`, `{"a":1,"b":{"c":2}}`, `{"a":1,"b":{"d":3}}`},
		"null field":                   {`{"a":null}`, `{"a":1}`, `{}`},
		"whole object":                 {`"x"`, `"y"`, `{"z":1}`},
		"whole status":                 {`{"a":1,"status":{"b":{"c":1}}}`, `{"a":1,"status":{"b":{"c":2}}}`, `{"a":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			variation := learned(Snapshot{"object": test.one}, Snapshot{"object": test.two})
			masked := variation.Normalize(Snapshot{"object": test.one})
			g.Expect(Diff(masked, variation.Normalize(Snapshot{"object": test.two}))).To(BeEmpty())
			g.Expect(Diff(masked, variation.Normalize(Snapshot{"object": test.third}))).To(BeEmpty())
		})
	}
}

func TestNormalizeKeepsOtherDifferences(t *testing.T) {
	for name, test := range map[string]struct{ one, two, third string }{
		"nothing varies":                  {`{"a":1}`, `{"a":1}`, `{"a":2}`},
		"field next to a varying one":     {`{"a":1,"b":1}`, `{"a":1,"b":2}`, `{"a":2,"b":1}`},
		"field next to a missing one":     {`{"a":1,"b":1}`, `{"a":1}`, `{"a":2}`},
		"missing field":                   {`{"a":1,"b":1}`, `{"a":1,"b":2}`, `{"b":1}`},
		"additional field":                {`{"a":1}`, `{"a":2}`, `{"a":1,"b":1}`},
		"another element":                 {`{"a":["x","y"]}`, `{"a":["x","z"]}`, `{"a":["w","y"]}`},
		"missing element":                 {`{"a":["x","y"]}`, `{"a":["x","z"]}`, `{"a":["x"]}`},
		"field of an element":             {`{"a":[{"b":1,"c":1}]}`, `{"a":[{"b":1,"c":2}]}`, `{"a":[{"b":2,"c":1}]}`},
		"missing map":                     {`{"a":{"b":1}}`, `{"a":{"b":2}}`, `{}`},
		"field name with the same prefix": {`{"a":1,"ab":1}`, `{"a":2,"ab":1}`, `{"a":1,"ab":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			variation := learned(Snapshot{"object": test.one}, Snapshot{"object": test.two})
			masked := variation.Normalize(Snapshot{"object": test.one})
			NewWithT(t).Expect(Diff(masked, variation.Normalize(Snapshot{"object": test.third}))).NotTo(BeEmpty())
		})
	}
}

func TestDifferencesIgnoreRandomFields(t *testing.T) {
	g := NewWithT(t)
	one, two := Snapshot{"object": `{"a":1,"b":1,"l":["x"]}`}, Snapshot{"object": `{"a":1,"b":2,"l":["y"]}`}
	random := learned(one, two)
	g.Expect(random.Differences(one, Snapshot{"object": `{"a":1,"b":3,"l":["z"]}`})).To(BeEmpty())
	other := Snapshot{"object": `{"a":2,"b":3,"l":["z"]}`}
	g.Expect(random.Differences(one, other)).To(Equal(Differences(random.Normalize(one), random.Normalize(other))))
	g.Expect(random.Differences(one, other)).NotTo(Equal(random.Differences(other, one)), "the direction matters")
	g.Expect(random.Differences(one, other)[0].Text).To(HaveSuffix("-a: 1\n+a: 2\n l:\n - <varies>\n"), "random elements are shown as a placeholder")
	g.Expect(random.Learn(one, other)).To(ConsistOf("object a"), "Learn returns the new differences")
}

func TestNormalizeHidesObjectsOfOneRun(t *testing.T) {
	g := NewWithT(t)
	one, two := Snapshot{"always": `{"a":1}`, "at times": `{}`}, Snapshot{"always": `{"a":1}`, "also": `{}`}
	variation := learned(one, two)
	g.Expect(variation.Normalize(one)).To(Equal(Snapshot{"always": `{"a":1}`}))
	g.Expect(variation.Normalize(two)).To(Equal(variation.Normalize(one)))
	g.Expect(Diff(variation.Normalize(one), variation.Normalize(Snapshot{}))).To(Equal("- always is missing\n"))
	g.Expect(Diff(variation.Normalize(one), variation.Normalize(Snapshot{"always": `{"a":1}`, "never": `{}`}))).To(Equal("+ never is unexpected\n"))
	g.Expect(one).To(HaveLen(2), "the argument is not modified")
}

func learned(runs ...Snapshot) *Nondeterminism {
	n := &Nondeterminism{}
	for _, run := range runs[1:] {
		n.Learn(runs[0], run)
	}
	return n
}

func TestNormalizeHidesOnlyListOrder(t *testing.T) {
	g := NewWithT(t)
	one, two := Snapshot{"Service/a": `{"ports":[{"name":"x"},{"name":"y"}]}`}, Snapshot{"Service/a": `{"ports":[{"name":"y"},{"name":"x"}]}`}
	n := &Nondeterminism{}
	g.Expect(n.Learn(one, two)).To(Equal([]string{"the order of Service/a ports"}))
	g.Expect(n.Learn(one, two)).To(BeEmpty(), "nothing is new the second time")
	g.Expect(n.Normalize(one)).To(Equal(n.Normalize(two)))
	other := Snapshot{"Service/a": `{"ports":[{"name":"x"},{"name":"z"}]}`}
	g.Expect(Diff(n.Normalize(one), n.Normalize(other))).NotTo(BeEmpty(), "a different element is still a difference")
}

func TestRenamedObjectsAreMatchedByContent(t *testing.T) {
	for name, test := range map[string]struct {
		one, two Snapshot
		want     []string
	}{
		"additional object":                  {Snapshot{"Job/a": `{}`}, Snapshot{"Job/a": `{}`, "Job/b": `{}`}, []string{"whether Job/b exists"}},
		"different objects of two kinds":     {Snapshot{"Job/a": `{}`}, Snapshot{"JobSet/b": `{}`}, []string{"whether Job/a exists", "whether JobSet/b exists"}},
		"last of several objects":            {Snapshot{"Job/a": `{}`, "Job/c": `{}`}, Snapshot{"Job/a": `{}`, "Job/b": `{}`}, []string{"the name of Job/b, which was Job/c"}},
		"renamed object and a new kind":      {Snapshot{"Job/a": `{}`}, Snapshot{"Config/b": `{}`, "Job/b": `{}`}, []string{"the name of Job/b, which was Job/a", "whether Config/b exists"}},
		"renamed objects of two kinds":       {Snapshot{"Job/a": `{}`, "Web/a": `{}`}, Snapshot{"Job/b": `{}`, "Web/b": `{}`}, []string{"the name of Job/b, which was Job/a", "the name of Web/b, which was Web/a"}},
		"renamed and additional object":      {Snapshot{"Job/a": `{}`}, Snapshot{"Job/b": `{}`, "Job/c": `{}`}, []string{"the name of Job/b, which was Job/a", "whether Job/<varies> #2 exists"}},
		"generated name in the first run":    {Snapshot{"Pod/a-*": `{}`}, Snapshot{"Pod/b": `{}`}, []string{"whether Pod/a-* exists", "whether Pod/b exists"}},
		"generated name in the second run":   {Snapshot{"Pod/b": `{}`}, Snapshot{"Pod/a-*": `{}`}, []string{"whether Pod/a-* exists", "whether Pod/b exists"}},
		"renamed object and generated names": {Snapshot{"Pod/a": `{}`, "Pod/g-*": `{}`}, Snapshot{"Pod/b": `{}`, "Pod/h-*": `{}`}, []string{"the name of Pod/b, which was Pod/a", "whether Pod/g-* exists", "whether Pod/h-* exists"}},
		"renamed object with other content":  {Snapshot{"Job/a": `{"of":"a"}`}, Snapshot{"Job/b": `{"of":"b"}`}, []string{"the name of Job/b, which was Job/a"}},
		"one renamed object of several":      {Snapshot{"Job/a": `{}`, "Job/b": `{}`}, Snapshot{"Job/b": `{}`, "Job/c": `{}`}, []string{"the name of Job/c, which was Job/a"}},
		"numbered generated names":           {Snapshot{"Pod/a-* #1": `{}`, "Pod/a-* #2": `{}`}, Snapshot{"Pod/a-* #1": `{}`}, []string{"whether Pod/a-* #2 exists"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			n := &Nondeterminism{}
			g.Expect(n.Learn(test.one, test.two)).To(Equal(test.want))
			g.Expect(n.Learn(test.one, test.two)).To(BeEmpty())
			g.Expect(n.Normalize(test.one)).To(Equal(n.Normalize(test.two)))
		})
	}

	g := NewWithT(t)
	n := learned(Snapshot{"Job/a1": `{"v":1}`, "Pod/p": `{"job":"a1"}`}, Snapshot{"Job/b2": `{"v":1}`, "Pod/p": `{"job":"b2"}`})
	reference := n.Normalize(Snapshot{"Job/a1": `{"v":1}`, "Pod/p": `{"job":"a1"}`})
	diff := func(third Snapshot) string { return Diff(reference, n.Normalize(third)) }
	g.Expect(diff(Snapshot{"Job/c3": `{"v":1}`, "Pod/p": `{"job":"c3"}`})).To(BeEmpty(), "references follow the name")
	g.Expect(diff(Snapshot{"Job/c3": `{"v":1}`, "Job/d4": `{"v":1}`, "Pod/p": `{"job":"c3"}`})).To(Equal("+ Job/<varies> #2 is unexpected\n"))
	g.Expect(diff(Snapshot{"Pod/p": `{"job":"c3"}`})).To(ContainSubstring("- Job/<varies> #1 is missing\n"))
	g.Expect(diff(Snapshot{"Job/c3": `{"v":2}`, "Pod/p": `{"job":"c3"}`})).To(ContainSubstring("v: 2"))
}

func TestStableNamesAreKept(t *testing.T) {
	g := NewWithT(t)
	run := func(job, keptJob, cron, keptCron string) Snapshot {
		return Snapshot{"Job.batch/" + job: `{}`, "Job.batch/" + keptJob: `{}`, "Cron/" + cron: `{}`, "Cron/" + keptCron: `{}`,
			"Pod/p": `{"cron":"` + cron + `","job":"` + job + `"}`}
	}
	one, two := run("a1", "keep", "b1", "keep"), run("a2", "keep", "b2", "keep")
	n := learned(one, two)
	for _, run := range []Snapshot{one, two} {
		g.Expect(n.Normalize(run)).To(Equal(Snapshot{"Job.batch/<varies> #1": `{}`, "Job.batch/keep": `{}`, "Cron/<varies> #1": `{}`, "Cron/keep": `{}`,
			"Pod/p": `{"cron":"<varies>","job":"<varies>"}`}))
	}
	job := schema.GroupKind{Group: "batch", Kind: "Job"}
	g.Expect([]string{n.Name(job, "a1"), n.Name(job, "keep"), n.Name(schema.GroupKind{Kind: "Pod"}, "a1")}).To(Equal([]string{"<varies>", "keep", "a1"}))

	n.Learn(one, run("a3", "other", "b3", "other"))
	g.Expect(n.Normalize(one)).To(And(HaveKey("Job.batch/<varies> #2"), HaveKey("Cron/<varies> #2")), "names that vary in a third run")
}

func TestLearnDescribesEveryDifference(t *testing.T) {
	g := NewWithT(t)
	one := Snapshot{"Web/a": `{"f":{"x":1,"y":1},"l":[2,1],"m":[2,1]}`, "Web/b": `{"r":[{"h":["b","a"]},{"h":["d","c"]}],"x":1}`}
	two := Snapshot{"Web/a": `{"f":{"x":2,"y":2},"l":[1,2],"m":[1,2]}`, "Web/b": `{"r":[{"h":["a","b"]},{"h":["c","d"]}],"x":2}`}
	fields := []string{"Web/a f.x", "Web/a f.y", "Web/b x"}
	orders := []string{"the order of Web/a l", "the order of Web/a m", "the order of Web/b r[0].h", "the order of Web/b r[1].h"}
	n := &Nondeterminism{}
	g.Expect(n.Learn(one, two)).To(Equal(slices.Concat(orders[:2], fields[:2], orders[2:], fields[2:])))
	for _, run := range []Snapshot{one, two} {
		g.Expect(n.Normalize(run)).To(Equal(Snapshot{"Web/a": `{"f":{},"l":[1,2],"m":[1,2]}`, "Web/b": `{"r":[{"h":["a","b"]},{"h":["c","d"]}]}`}))
	}
	g.Expect((&Nondeterminism{}).Adopt(n)).To(Equal(slices.Concat(orders, fields)))
}

func TestAdoptTakesOrdersAndWrittenFields(t *testing.T) {
	for name, test := range map[string]struct {
		one, two, other, another string
		adopted                  []string
	}{
		"order of a list":               {`{"l":[1,2]}`, `{"l":[2,1]}`, `{"l":[1,2,3]}`, `{"l":[3,2,1]}`, []string{"the order of Web/a l"}},
		"order of a list in the status": {`{"status":{"l":[1,2]}}`, `{"status":{"l":[2,1]}}`, `{"status":{"l":[1,3]}}`, `{"status":{"l":[3,1]}}`, []string{"the order of Web/a status.l"}},
		"value":                         {`{"data":{"k":1}}`, `{"data":{"k":2}}`, `{"data":{"k":3},"v":1}`, `{"data":{"k":4},"v":1}`, []string{"Web/a data.k"}},
		"annotation":                    {`{"metadata":{"annotations":{"a":1}}}`, `{"metadata":{"annotations":{"a":2}}}`, `{"metadata":{"annotations":{"a":3}}}`, `{"metadata":{"annotations":{"a":4}}}`, []string{"Web/a metadata.annotations.a"}},
		"label":                         {`{"metadata":{"labels":{"a":1}}}`, `{"metadata":{"labels":{"a":2}}}`, `{"metadata":{"labels":{"a":3}}}`, `{"metadata":{"labels":{"a":4}}}`, []string{"Web/a metadata.labels.a"}},
		"status field":                  {`{"status":{"k":1}}`, `{"status":{"k":2}}`, `{"status":{"k":3}}`, `{"status":{"k":4}}`, nil},
		"deletion timestamp":            {`{"metadata":{"deletionTimestamp":"<time>"}}`, `{"metadata":{}}`, `{"metadata":{"deletionTimestamp":"<time>"}}`, `{"metadata":{}}`, nil},
		"whole object":                  {`"x"`, `"y"`, `"z"`, `"a"`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			n := &Nondeterminism{}
			known := learned(Snapshot{"Web/a": test.one}, Snapshot{"Web/a": test.two})
			g.Expect(n.Adopt(known)).To(Equal(test.adopted))
			g.Expect(n.Adopt(known)).To(BeEmpty(), "nothing is new the second time")
			alike := Diff(n.Normalize(Snapshot{"Web/a": test.other}), n.Normalize(Snapshot{"Web/a": test.another})) == ""
			g.Expect(alike).To(Equal(test.adopted != nil))
		})
	}
}

func TestAdoptIsSafeForConcurrentUse(*testing.T) {
	var one, two Nondeterminism
	var both sync.WaitGroup
	for _, pair := range [][2]*Nondeterminism{{&one, &two}, {&two, &one}} {
		both.Go(func() {
			for range 100_000 {
				pair[0].Adopt(pair[1])
			}
		})
	}
	both.Wait()
}
