package invent

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/project"
)

func TestLostChildIsReportedIfOthersAreRestored(t *testing.T) {
	const lostOwned, lostUnowned, restored = "lost and owned", "lost and not owned", "restored"
	trials := map[string]trial{lostOwned: {why: notRecreated, isBug: true}, lostUnowned: {why: notRecreated}, restored: {}}
	for name, test := range map[string]struct {
		children []string
		again    string // the trial of the second run; empty if the exploration is interrupted before it
		findings int
		left     int
	}{
		"interrupted":                            {[]string{lostOwned, restored}, "", 0, 1},
		"other child is restored":                {[]string{lostOwned, restored}, lostOwned, 1, 0},
		"no child is restored":                   {[]string{lostOwned, lostUnowned}, lostOwned, 0, 2},
		"lost child without owner":               {[]string{lostUnowned, restored}, lostUnowned, 0, 1},
		"restored in the second run":             {[]string{lostOwned, restored}, restored, 0, 1},
		"other object is lost in the second run": {[]string{lostOwned, restored}, lostUnowned, 0, 1},
		"no child is lost":                       {[]string{restored, restored}, restored, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var candidates []candidate
			var tried []trial
			for i, child := range test.children {
				candidates = append(candidates, candidate{child: &oracle.Child{Kind: schema.GroupVersionKind{Kind: "Service"}, Name: fmt.Sprint(i)}})
				tried = append(tried, trials[child])
			}
			s := subject{explorer: &explore.Explorer{}, invented: &Invented{}}
			ctx, cancel := context.WithCancel(t.Context())
			if test.again == "" {
				cancel()
			}
			s.reportLost(ctx, func(context.Context, candidate) trial { return trials[test.again] }, candidates, tried)
			cancel()
			if got := len(s.explorer.WithoutFault()); got != test.findings || len(s.invented.Left) != test.left {
				t.Errorf("got %d findings and %q left out, want %d and %d", got, s.invented.Left, test.findings, test.left)
			}
		})
	}
}

func TestConfirmingRunWaitsForChild(t *testing.T) {
	child := &oracle.Child{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Service"}, Name: "web"}
	c := candidate{child: child}
	c.Document.Steps = []step{{"apply": {}}, {"delete": {}}, {"converged": {}}}
	got := withWait(c).Document.Steps
	if want := (step{"assert": {"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "web", "deletionTimestamp": nil}}}); len(got) != 4 || len(c.Document.Steps) != 3 || !reflect.DeepEqual(got[2], want) {
		t.Errorf("got steps %v, want %v before the last", got, want)
	}
	child.Name = "web-*"
	if got := withWait(c).Document.Steps; len(got) != 3 {
		t.Errorf("got steps %v for a random name, want the same steps", got)
	}
	for why, want := range map[string]bool{"Assert(Service web): Service web- does not exist": false, "Assert(Service web): Service web-* does not exist": true, "": false, "the Service web-* does not exist in another run": false} {
		if got := isLost(trial{why: why}, child); got != want {
			t.Errorf("%q: got lost: %t, want %t", why, got, want)
		}
	}
}

func TestRandomPartOfNameIsReplaced(t *testing.T) {
	for name, want := range map[string]string{
		"web": "web", "web-*": "web-*", "web-x7k2p": "web-*", "web-x7k2p-head-svc": "web-*-head-svc", "web-head-worker": "web-head-*", "web-3f2a": "web-*",
		"web-6d4cf56db6-x7k2p": "web-*",
	} {
		if got := randomName(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestDeletionHasVariantForRandomName(t *testing.T) {
	kind := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	for name, test := range map[string]struct{ other, want string }{
		"web-x7k2p": {"Pod/app", "delete the Pod web-*"}, "web-7kx2p": {"Service/web-config", "delete the Pod web-*"}, "web-6bdcf": {"Pod/web-config", ""},
		"web-*": {"Pod/app", ""}, "web": {"Pod/app", ""},
	} {
		observed := explore.Observation{States: []oracle.Snapshot{{"Pod/" + name: "{}", test.other: "{}"}}, Children: []oracle.Child{{Kind: kind, Name: name}}}
		s := subject{sample: project.Sample{Resource: &unstructured.Unstructured{Object: map[string]any{}}}}
		got := ""
		if random := s.deletions(observed)[0].other; random != nil {
			got = random.About
		}
		if got != test.want {
			t.Errorf("%s next to %s: got %q, want %q", name, test.other, got, test.want)
		}
	}
}

func TestLeaderElectionLockIsNotChild(t *testing.T) {
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	s := subject{sample: project.Sample{Resource: &unstructured.Unstructured{Object: map[string]any{"kind": "Web"}}}}
	got := s.deletions(explore.Observation{Children: []oracle.Child{{Kind: kind, Name: "lock"}, {Kind: kind, Name: "web"}}, States: []oracle.Snapshot{{
		"ConfigMap/lock": `{"metadata":{"annotations":{"control-plane.alpha.kubernetes.io/leader":"{}"}}}`,
		"ConfigMap/web":  `{}`,
	}}})
	if len(got) != 1 || got[0].child.Name != "web" {
		t.Errorf("got candidates %v, want only the deletion of the ConfigMap web", got)
	}
}
