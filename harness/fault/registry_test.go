package fault

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestTypesAreSortedByCategoryAndName(t *testing.T) {
	g := NewWithT(t)
	var names []string
	for _, of := range Types(Latency, Crashes) {
		names = append(names, of.Name())
	}
	g.Expect(names).To(Equal([]string{"crash-after", "crash-before", "lost-response", "slow-reads", "slow-writes"}))
	for _, of := range Types() {
		_, ofRequests := of.(*requestFault)
		_, ofWatches := of.(*watchFault)
		g.Expect(ofRequests).NotTo(Equal(ofWatches), of.Name())
	}
}

func TestRegisterRejectsDuplicates(t *testing.T) {
	NewWithT(t).Expect(func() { register(CrashAfter) }).To(PanicWith(ContainSubstring("crash-after is registered twice")))
}

func TestPoints(t *testing.T) {
	write := func(name string) RequestKey { return RequestKey{"apply", "secrets", name, 1} }
	read := RequestKey{"get", "configmaps", "web", 1}
	ref := &Reference{
		Writes: []RequestKey{write("a"), write("b")}, Reads: []RequestKey{read},
		Watches: []Watch{{"secrets", []int{1, 2}, []int{1}}, {"configmaps", []int{2}, nil}},
		Actions: 2, Choose: func(n int) int { return n - 1 },
	}
	watch := func(target string, action int) RequestKey { return RequestKey{"watch", target, "-", action} }
	for _, test := range []struct {
		of   Type
		want []RequestKey
	}{
		{CrashAfter, ref.Writes},
		{Replaced, nil}, // the scenario has two actions
		{Error409, []RequestKey{write("b"), write("a")}},
		{Error503, []RequestKey{read}},
		{Error500, []RequestKey{read, write("a"), write("b")}},
		{SlowError500, []RequestKey{write("b")}},
		{ErrorBurst503, []RequestKey{read}},
		{ConnectionReset, []RequestKey{read}},
		{SlowReads, []RequestKey{{}}},
		{Stale, []RequestKey{watch("secrets", 2), watch("configmaps", 2)}},
		{StaleAcross, []RequestKey{watch("secrets", 1), watch("configmaps", 1)}},
		{TimeTravel, []RequestKey{watch("secrets", 1), watch("secrets", 2), watch("configmaps", 2), watch("*", 2)}},
		{TimeTravelFar, []RequestKey{watch("*", 1)}},
		{TimeTravelDeleting, []RequestKey{watch("secrets", 1)}},
	} {
		// Choose selects the last request. Requests are sorted by their text, so "get" comes after "apply".
		NewWithT(t).Expect(test.of.Points(ref)).To(Equal(test.want), test.of.Name())
	}
	ref.Actions = 1
	NewWithT(t).Expect(Replaced.Points(ref)).To(BeEmpty(), "the reference has no subject")
	ref.HasSubject = true
	NewWithT(t).Expect(Replaced.Points(ref)).To(Equal(ref.Writes))
}
