package oracle_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/oracle"
)

const owned = `"metadata":{"ownerReferences":[{"kind":"Web","name":"web","uid":"<uid of Web web>"}]}`

func TestDeletedChildIsRecreated(t *testing.T) {
	for name, test := range map[string]struct {
		kind, child, key       string
		created, before, after string // the child in the snapshots
		recreated, isBug       bool
	}{
		"recreated":                  {"PodDisruptionBudget.v1.policy", "web", "PodDisruptionBudget.policy/web", `{` + owned + `}`, `{` + owned + `}`, `{` + owned + `}`, true, false},
		"owned":                      {"PodDisruptionBudget.v1.policy", "web", "PodDisruptionBudget.policy/web", `{` + owned + `}`, `{` + owned + `}`, "", false, true},
		"with a generated name":      {"Service.v1.", "web-*", "Service/web-*", `{` + owned + `}`, `{` + owned + `}`, "", false, true},
		"not owned":                  {"Service.v1.", "web", "Service/web", `{}`, `{}`, "", false, false},
		"Job":                        {"Job.v1.batch", "web", "Job.batch/web", `{` + owned + `}`, `{` + owned + `}`, "", false, false},
		"history":                    {"ControllerRevision.v1.apps", "web-1", "ControllerRevision.apps/web-1", `{` + owned + `}`, `{` + owned + `}`, "", false, false},
		"volume":                     {"PersistentVolumeClaim.v1.", "web", "PersistentVolumeClaim/web", `{` + owned + `}`, `{` + owned + `}`, "", false, false},
		"running Pod":                {"Pod.v1.", "web", "Pod/web", `{` + owned + `,"status":{"phase":"Running"}}`, `{` + owned + `,"status":{"phase":"Running"}}`, "", false, true},
		"finished Pod":               {"Pod.v1.", "web", "Pod/web", `{` + owned + `,"status":{"phase":"Succeeded"}}`, `{` + owned + `,"status":{"phase":"Succeeded"}}`, "", false, false},
		"failed Pod":                 {"Pod.v1.", "web", "Pod/web", `{` + owned + `,"status":{"phase":"Failed"}}`, `{` + owned + `,"status":{"phase":"Failed"}}`, "", false, false},
		"certificate request":        {"CertificateSigningRequest.v1.certificates.k8s.io", "web", "CertificateSigningRequest.certificates.k8s.io/web", `{` + owned + `}`, `{` + owned + `}`, "", false, false},
		"core Event":                 {"Event.v1.", "web", "Event/web", `{` + owned + `}`, `{` + owned + `}`, "", false, false},
		"Event":                      {"Event.v1.events.k8s.io", "web", "Event.events.k8s.io/web", `{` + owned + `}`, `{` + owned + `}`, "", false, false},
		"Lease":                      {"Lease.v1.coordination.k8s.io", "web", "Lease.coordination.k8s.io/web", `{` + owned + `}`, `{` + owned + `}`, "", false, false},
		"custom resource":            {"Certificate.v1.cert-manager.io", "web", "Certificate.cert-manager.io/web", `{` + owned + `}`, `{` + owned + `}`, "", false, false},
		"Secret":                     {"Secret.v1.", "web", "Secret/web", `{` + owned + `,"data":{"a":"YQ=="}}`, `{` + owned + `,"data":{"a":"YQ=="}}`, "", false, true},
		"Secret with a random value": {"Secret.v1.", "web", "Secret/web", `{` + owned + `,"data":{"a":"YQ=="}}`, `{` + owned + `,"data":{"a":"Yg=="}}`, "", false, false},
		"ConfigMap with random data": {"ConfigMap.v1.", "web", "ConfigMap/web", `{` + owned + `,"data":{"a":"a"}}`, `{` + owned + `,"data":{"a":"b"}}`, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			gvk, _ := schema.ParseKindArg(test.kind)
			if gvk == nil {
				t.Fatal(test.kind)
			}
			state := func(text string) oracle.Snapshot {
				if text == "" {
					return oracle.Snapshot{"Web.example.com/web": "{}"}
				}
				return oracle.Snapshot{"Web.example.com/web": "{}", test.key: text}
			}
			recreated, isBug := oracle.IsRecreated(oracle.Child{Kind: *gvk, Name: test.child}, state(test.created), state(test.before), state(test.after))
			if recreated != test.recreated || isBug != test.isBug {
				t.Errorf("got recreated %t and bug %t, want %t and %t", recreated, isBug, test.recreated, test.isBug)
			}
		})
	}
}

func TestLossOfAnotherObjectIsNoBug(t *testing.T) {
	child := oracle.Child{Kind: schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}, Name: "web"}
	after := oracle.Snapshot{"PodDisruptionBudget.policy/web": `{` + owned + `}`}
	before := oracle.Snapshot{"PodDisruptionBudget.policy/web": `{` + owned + `}`, "ConfigMap/other": `{}`}
	if recreated, isBug := oracle.IsRecreated(child, before, before, after); recreated || isBug {
		t.Errorf("got recreated %t and bug %t, want neither", recreated, isBug)
	}
	replaced := oracle.Snapshot{"ConfigMap/other": `{}`, "ConfigMap/new": `{}`}
	if recreated, isBug := oracle.IsRecreated(child, before, before, replaced); recreated || !isBug {
		t.Errorf("got recreated %t and bug %t for a child that another object replaces, want only a bug", recreated, isBug)
	}
}

func TestChildMatchesKindAndName(t *testing.T) {
	snapshot := oracle.Snapshot{"Service/web": "a", "Service/other": "b", "ConfigMap/web": "c", "ServiceAccount/web": "d", "Service/web #2": "e"}
	child := oracle.Child{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Service"}, Name: "web"}
	if got := child.In(snapshot); !slices.Equal(got, []string{"a", "e"}) {
		t.Errorf("got %q, want the two Services named web", got)
	}
}
