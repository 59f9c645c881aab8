package oracle

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/record"
)

func TestAddRecordsRequiredPermissions(t *testing.T) {
	web := record.Request{Group: "apps", Resource: "deployments", Name: "web"}
	for name, test := range map[string]struct {
		verb, subresource string
		status            int
		want              Permissions
	}{
		"get":                        {"get", "", 200, Permissions{"get deployments.apps": true}},
		"get of a missing object":    {"get", "", 404, Permissions{"get deployments.apps": true}},
		"list":                       {"list", "", 200, Permissions{"list deployments.apps": true}},
		"watch":                      {"watch", "", 200, Permissions{"watch deployments.apps": true, "list deployments.apps": true}},
		"apply":                      {"apply", "", 200, Permissions{"patch deployments.apps": true}},
		"apply that creates":         {"apply", "", 201, Permissions{"patch deployments.apps": true, "create deployments.apps": true}},
		"apply of the status":        {"apply", "status", 200, Permissions{"patch deployments.apps/status": true}},
		"update of a subresource":    {"update", "scale", 200, Permissions{"update deployments.apps/scale": true}},
		"request without a response": {"delete", "", 0, Permissions{"delete deployments.apps": true}},
	} {
		t.Run(name, func(t *testing.T) {
			request := web
			request.Verb, request.Subresource, request.Status = test.verb, test.subresource, test.status
			uses := Permissions{}
			uses.Add(record.Requests{request, {Verb: "get", Resource: "/apis"}})
			NewWithT(t).Expect(uses).To(Equal(test.want))
		})
	}
	uses := Permissions{}
	uses.Add(record.Requests{{Verb: "get", Resource: "pods", Subresource: "log"}})
	uses.Add(record.Requests{{Verb: "create", Resource: "pods"}})
	NewWithT(t).Expect(uses).To(Equal(Permissions{"get pods/log": true, "create pods": true}))
}

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

func TestGranted(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Granted([]byte(roles))).To(Equal(Permissions{
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

func TestCheckExact(t *testing.T) {
	granted := Permissions{"get pods": true, "patch deployments.apps": true, "create events.events.k8s.io": true}
	for name, test := range map[string]struct {
		used    Permissions
		ignored []string
		amiss   string
	}{
		"exact":   {granted, nil, ""},
		"ignored": {Permissions{"get pods": true, "patch deployments.apps": true}, []string{"create events.events.k8s.io"}, ""},
		"unused":  {Permissions{"get pods": true}, nil, "create events.events.k8s.io is granted but never used\npatch deployments.apps is granted but never used"},
		"not granted": {Permissions{"get pods": true, "patch deployments.apps": true, "create events.events.k8s.io": true, "delete pods": true}, []string{"delete pods"},
			"delete pods is used but not granted"},
		"both": {Permissions{"list pods": true, "patch deployments.apps": true, "create events.events.k8s.io": true}, nil,
			"get pods is granted but never used\nlist pods is used but not granted"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if err := test.used.CheckExact(granted, test.ignored...); test.amiss == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(test.amiss))
			}
		})
	}
}
