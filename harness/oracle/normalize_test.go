package oracle

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestSnapshotsIgnoreVaryingValues(t *testing.T) {
	const pod, widget, service = "{apiVersion: v1, kind: Pod, ", "{apiVersion: example.com/v1, kind: Widget, ", "{apiVersion: v1, kind: Service, "
	const replicaSet = "{apiVersion: apps/v1, kind: ReplicaSet, spec: {replicas: 1}, metadata: {name: a, ownerReferences: [{name: b, controller: true, kind: Deployment}], "
	for name, test := range map[string]struct {
		one, two string
		differs  bool
	}{
		"field manager":                  {widget + "metadata: {managedFields: [{manager: a}]}}", widget + "metadata: {managedFields: [{manager: b}]}}", false},
		"revision and its history":       {widget + `metadata: {annotations: {x/revision: "1", x/revision-history: "1"}}}`, widget + `metadata: {annotations: {x/revision: "2", x/revision-history: "1,2"}}}`, false},
		"revision of a Rollout":          {widget + `metadata: {annotations: {rollout.argoproj.io/revision: "1"}}}`, widget + `metadata: {annotations: {rollout.argoproj.io/revision: "2"}}}`, false},
		"annotation called revisions":    {widget + `metadata: {annotations: {x/revisions: "1"}}}`, widget + `metadata: {annotations: {x/revisions: "2"}}}`, true},
		"annotation next to a revision":  {widget + `metadata: {annotations: {x/revision: "1", a: "1"}}}`, widget + `metadata: {annotations: {x/revision: "1", a: "2"}}}`, true},
		"region of a Pod":                {pod + "metadata: {labels: {topology.kubernetes.io/region: a}}}", pod + "metadata: {labels: {topology.kubernetes.io/region: b}}}", false},
		"another label of a Pod":         {pod + "metadata: {labels: {a: a}}}", pod + "metadata: {labels: {a: b}}}", true},
		"region of a Widget":             {widget + "metadata: {labels: {topology.kubernetes.io/region: a}}}", widget + "metadata: {labels: {topology.kubernetes.io/region: b}}}", true},
		"Node of a Widget":               {widget + "spec: {nodeName: machine-1}}", widget + "spec: {nodeName: machine-2}}", true},
		"a label of a ReplicaSet":        {replicaSet + "labels: {a: a}}}", replicaSet + "labels: {a: b}}}", true},
		"a copied annotation":            {replicaSet + "annotations: {a: a}}}", replicaSet + "annotations: {a: b}}}", false},
		"an annotation of another child": {strings.Replace(replicaSet, "ReplicaSet", "Widget", 1) + "annotations: {a: a}}}", strings.Replace(replicaSet, "ReplicaSet", "Widget", 1) + "annotations: {a: b}}}", true},
		"collisions of hashes":           {widget + "status: {a: a, collisionCount: 1}}", widget + "status: {a: a}}", false},
		"addresses of both families":     {service + "spec: {clusterIPs: [10.0.0.1, 'fd00::1']}}", service + "spec: {clusterIPs: [10.0.0.2, 'fd00::2']}}", false},
		"addresses with the same prefix": {pod + "status: {podIP: 10.0.0.1, hostIP: 10.0.0.12}}", pod + "status: {podIP: 10.0.0.3, hostIP: 10.0.0.4}}", false},
		"a Service without an address":   {service + "spec: {clusterIP: None, clusterIPs: [None]}}", service + "spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1]}}", true},
		"two node ports":                 {service + "spec: {ports: [{nodePort: 30001}, {nodePort: 30002}]}}", service + "spec: {ports: [{nodePort: 30003}, {nodePort: 30004}]}}", false},
		"two durations":                  {widget + "status: {aDuration: 1, bDuration: 1s}}", widget + "status: {aDuration: 2, bDuration: 2s}}", false},
		"a nested duration":              {widget + "status: {a: {bDuration: 2s}}}", widget + "status: {a: {bDuration: 1m7s}}}", false},
		"a duration that is a text":      {widget + "status: {aDuration: short}}", widget + "status: {aDuration: long}}", true},
		"a boolean about a duration":     {widget + "status: {durationKnown: true}}", widget + "status: {durationKnown: false}}", true},
		"a duration in a spec":           {widget + "spec: {aDuration: 1h}}", widget + "spec: {aDuration: 2h}}", true},
		"only empty fields of a status":  {widget + "status: {a: {b: {}}, c: []}}", widget + "}", false},
		"an empty field of a spec":       {widget + "spec: {emptyDir: {}}}", widget + "spec: {}}", true},
		"a number in a status":           {widget + "status: {readyReplicas: 1}}", widget + "status: {readyReplicas: 2}}", true},
		"a nested number in a status":    {widget + "status: {a: {b: 1}}}", widget + "status: {a: {b: 2}}}", true},
		"text as status":                 {widget + "status: a}", widget + "status: b}", true},
		"a boolean":                      {widget + "spec: {paused: true}}", widget + "spec: {paused: false}}", true},
		"the order of finalizers":        {widget + "metadata: {finalizers: [a, b]}}", widget + "metadata: {finalizers: [b, a]}}", false},
		"the order of owners":            {widget + "metadata: {ownerReferences: [{name: a}, {name: b}]}}", widget + "metadata: {ownerReferences: [{name: b}, {name: a}]}}", false},
		"the order of conditions":        {widget + "status: {conditions: [{type: a}, {type: b}]}}", widget + "status: {conditions: [{type: b}, {type: a}]}}", false},
		"the order of another list":      {widget + "status: {steps: [{type: a}, {type: b}]}}", widget + "status: {steps: [{type: b}, {type: a}]}}", true},
		"a name that is not generated":   {pod + "metadata: {generateName: web-, name: one}}", pod + "metadata: {generateName: web-, name: two}}", true},
		"the order of generated Pods": {
			pod + "metadata: {generateName: web-, name: web-a}, spec: {hostname: a}}\n---\n" + pod + "metadata: {generateName: web-, name: web-b}, spec: {hostname: b}}",
			pod + "metadata: {generateName: web-, name: web-c}, spec: {hostname: b}}\n---\n" + pod + "metadata: {generateName: web-, name: web-d}, spec: {hostname: a}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			none := BeEmpty()
			if test.differs {
				none = Not(none)
			}
			NewWithT(t).Expect(Diff(snapshotOf(t, test.one), snapshotOf(t, test.two))).To(none)
		})
	}
}

func TestHashInNameIsReplaced(t *testing.T) {
	for label, want := range map[string]string{"pod-template-hash": "web-<hash>", "rollouts-pod-template-hash": "web-<hash>", "another-hash": "web-7d4b9"} {
		snapshot := snapshotOf(t, `{apiVersion: v1, kind: Pod, metadata: {generateName: web-7d4b9-, name: web-7d4b9-x2x8k, labels: {`+label+`: 7d4b9}}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-7d4b9}}`)
		NewWithT(t).Expect(snapshot).To(And(HaveLen(2), HaveKey("Pod/"+want+"-*"), HaveKey("ReplicaSet.apps/"+want)))
	}
}

func TestKeyContainsOtherNamespace(t *testing.T) {
	snapshot := snapshotOf(t, `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: run-1, name: web}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {namespace: tenant-run-1, name: web}}`)
	NewWithT(t).Expect(snapshot).To(And(HaveLen(2), HaveKey("ConfigMap/web"), HaveKey("ConfigMap/tenant-<namespace>/web")))
}
