package oracle

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestRequestsUseWhatRBACGrants(t *testing.T) {
	web := Request{Group: "apps", Resource: "deployments", Name: "web"}
	for name, test := range map[string]struct {
		verb, subresource string
		status            int
		want              Uses
	}{
		"a read":                   {"get", "", 200, Uses{"get deployments.apps": true}},
		"one that found nothing":   {"get", "", 404, Uses{"get deployments.apps": true}},
		"a list":                   {"list", "", 200, Uses{"list deployments.apps": true}},
		"a watch":                  {"watch", "", 200, Uses{"watch deployments.apps": true, "list deployments.apps": true}},
		"an apply":                 {"apply", "", 200, Uses{"patch deployments.apps": true}},
		"an apply that creates":    {"apply", "", 201, Uses{"patch deployments.apps": true, "create deployments.apps": true}},
		"a status":                 {"apply", "status", 200, Uses{"patch deployments.apps/status": true}},
		"an update":                {"update", "scale", 200, Uses{"update deployments.apps/scale": true}},
		"a request with no answer": {"delete", "", 0, Uses{"delete deployments.apps": true}},
	} {
		t.Run(name, func(t *testing.T) {
			request := web
			request.Verb, request.Subresource, request.Status = test.verb, test.subresource, test.status
			uses := Uses{}
			uses.Add(Requests{request, {Verb: "get", Path: "/apis"}})
			NewWithT(t).Expect(uses).To(Equal(test.want))
		})
	}
	uses := Uses{}
	uses.Add(Requests{{Verb: "get", Resource: "pods", Subresource: "log"}})
	uses.Add(Requests{{Verb: "create", Resource: "pods"}})
	NewWithT(t).Expect(uses).To(Equal(Uses{"get pods/log": true, "create pods": true}))
}

// roles are as controller-gen writes them, among other things.
const roles = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager}
rules:
- {apiGroups: [""], resources: [pods, pods/log], verbs: [get]}
- {apiGroups: [apps, extensions], resources: [deployments, deployments/status], verbs: [patch, watch]}
- {nonResourceURLs: [/metrics], verbs: [get]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: manager}
---
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: leader, namespace: system}
rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}]
`

func TestWhatRolesGrant(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Granted([]byte(roles))).To(Equal(Uses{
		"get pods": true, "get pods/log": true,
		"patch deployments.apps": true, "patch deployments.apps/status": true,
		"watch deployments.apps": true, "watch deployments.apps/status": true,
		"patch deployments.extensions": true, "patch deployments.extensions/status": true,
		"watch deployments.extensions": true, "watch deployments.extensions/status": true,
		"create leases.coordination.k8s.io": true,
	}))
	g.Expect(Granted(nil)).To(BeEmpty())
	for _, rule := range []string{
		`{apiGroups: ["*"], resources: [pods], verbs: [get]}`,
		`{apiGroups: [""], resources: ["*"], verbs: [get]}`,
		`{apiGroups: [""], resources: [pods, "pods/*"], verbs: [get]}`,
		`{apiGroups: [""], resources: [pods], verbs: [get, "*"]}`,
	} {
		_, err := Granted([]byte("kind: ClusterRole\nmetadata: {name: generous}\nrules: [" + rule + "]\n"))
		g.Expect(err).To(MatchError(HavePrefix("role generous grants the wildcard: ")), rule)
	}
	_, err := Granted([]byte("kind: ClusterRole\nrules: none"))
	g.Expect(err).To(HaveOccurred())
}

func TestExactRBAC(t *testing.T) {
	granted := Uses{"get pods": true, "patch deployments.apps": true, "create events.events.k8s.io": true}
	for name, test := range map[string]struct {
		used    Uses
		excused []string
		amiss   string
	}{
		"exact":    {granted, nil, ""},
		"excused":  {Uses{"get pods": true, "patch deployments.apps": true}, []string{"create events.events.k8s.io"}, ""},
		"too many": {Uses{"get pods": true}, nil, "create events.events.k8s.io is granted and never used\npatch deployments.apps is granted and never used"},
		"too few": {Uses{"get pods": true, "patch deployments.apps": true, "create events.events.k8s.io": true, "delete pods": true}, []string{"delete pods"},
			"delete pods is used and not granted"},
		"both": {Uses{"list pods": true, "patch deployments.apps": true, "create events.events.k8s.io": true}, nil,
			"get pods is granted and never used\nlist pods is used and not granted"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if err := test.used.Exact(granted, test.excused...); test.amiss == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(test.amiss))
			}
		})
	}
}
