package oracle

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// state is the state of a namespace after a run. The words in capitals are placeholders for values that differ
// between runs.
const state = `
apiVersion: example.com/v1
kind: Widget
metadata: {name: web, namespace: NAMESPACE, uid: UID1, resourceVersion: "VERSION", generation: 3, creationTimestamp: TIME}
status:
  observedGeneration: 3
  nodes: [web-7d4b9-POD1, web-7d4b9-POD2]
  machine: fake-node-NODE1
  nodePort: 30PORT
  restarts: 0
  startDuration: 0.HOST
  address: web.NAMESPACE.svc at 10.0.0.HOST
  conditions:
  - {type: Ready, status: "True", lastTransitionTime: TIME, message: web-7d4b9-POD1 is ready}
  - {type: Available, status: "True", lastTransitionTime: TIME, observedGeneration: 2}
---
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: NAMESPACE
  uid: UID2
  ownerReferences: [{kind: Widget, name: web, uid: UID1}]
spec:
  clusterIP: 10.0.0.HOST
  clusterIPs: [10.0.0.HOST]
  ports: [{port: 80, nodePort: 30PORT}, {port: 81}]
---
apiVersion: v1
kind: Pod
metadata: {generateName: web-7d4b9-, name: web-7d4b9-POD1, namespace: NAMESPACE, uid: UID3, labels: {topology.kubernetes.io/zone: zone-NODE1}}
spec: {nodeName: fake-node-NODE1, volumes: [{name: kube-api-access-POD1}]}
status: {podIP: 10.244.0.HOST, hostIP: 192.0.2.NODE1, hostIPs: [{ip: 192.0.2.NODE1}]}
---
apiVersion: v1
kind: Pod
metadata: {generateName: web-7d4b9-, name: web-7d4b9-POD2, namespace: NAMESPACE, uid: UID4, labels: {topology.kubernetes.io/zone: zone-NODE2}}
spec: {nodeName: fake-node-NODE2, volumes: [{name: kube-api-access-POD2}]}
status: {podIP: 10.244.0.1HOST, hostIP: 192.0.2.NODE2, hostIPs: [{ip: 192.0.2.NODE2}]}
---
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: db-5574bcb584, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: UID9, controller: true}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: derived, labels: {endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}}
endpoints: [{hostname: web-7d4b9-POD1}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: own
  labels: {endpointslice.kubernetes.io/managed-by: operator.example.com}
  ownerReferences: [{kind: Service, name: web, uid: UID2}]
`

func run(t *testing.T, differences ...string) Snapshot {
	t.Helper()
	return snapshotOf(t, strings.NewReplacer(differences...).Replace(state))
}

func snapshotOf(t *testing.T, documents string) Snapshot {
	t.Helper()
	var objects []unstructured.Unstructured
	for document := range strings.SplitSeq(documents, "---\n") {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return NewSnapshot(objects[0].GetNamespace(), objects)
}

func uids(digit string) []string {
	var pairs []string
	for _, number := range []string{"1", "2", "3", "4"} {
		pairs = append(pairs, "UID"+number, "0000000"+digit+"-0000-4000-8000-00000000000"+number)
	}
	return pairs
}

var (
	first = append(uids("a"), "NAMESPACE", "spec-aaaaa", "VERSION", "7", "TIME", "2026-01-01T00:00:00Z",
		"PORT", "111", "HOST", "5", "POD1", "aaaaa", "POD2", "bbbbb", "NODE1", "1", "NODE2", "2")
	second = append(uids("b"), "NAMESPACE", "spec-zzzzz", "VERSION", "9", "TIME", "2026-01-02T00:00:00.000001Z",
		"PORT", "222", "HOST", "6", "POD1", "zzzzz", "POD2", "yyyyy", "NODE1", "3", "NODE2", "3")
)

func TestSnapshotsOfEqualRunsAreEqual(t *testing.T) {
	NewWithT(t).Expect(Diff(run(t, first...), run(t, second...))).To(BeEmpty())
}

func TestSnapshotContents(t *testing.T) {
	g := NewWithT(t)
	snapshot := run(t, first...)
	g.Expect(snapshot).To(HaveLen(5))
	g.Expect(snapshot).To(HaveKey("EndpointSlice.discovery.k8s.io/own"))
	g.Expect(snapshot).To(And(HaveKey("Pod/web-7d4b9-* #1"), HaveKey("Pod/web-7d4b9-* #2")))
	g.Expect(asYAML(snapshot["Widget.example.com/web"])).To(Equal(`apiVersion: example.com/v1
kind: Widget
metadata:
  creationTimestamp: <time>
  name: web
  namespace: <namespace>
status:
  address: web.<namespace>.svc at <ip>
  conditions:
  - lastTransitionTime: <time>
    observedGeneration: <stale>
    status: "True"
    type: Available
  - lastTransitionTime: <time>
    message: web-7d4b9-* is ready
    status: "True"
    type: Ready
  machine: <node>
  nodePort: <nodePort>
  nodes:
  - web-7d4b9-*
  - web-7d4b9-*
  observedGeneration: <current>
  restarts: 0
  startDuration: <duration>
`))
	g.Expect(asYAML(snapshot["Service/web"])).To(ContainSubstring("uid: <uid of Widget web>"))
	g.Expect(asYAML(snapshot["EndpointSlice.discovery.k8s.io/own"])).To(ContainSubstring("uid: <uid of Service web>"))
	g.Expect(asYAML(snapshot["Pod/web-7d4b9-* #1"])).To(ContainSubstring("- name: kube-api-access-*"))
}

func TestSnapshotOmitsDerivedObjects(t *testing.T) {
	const owner = `, metadata: {name: a, ownerReferences: [{name: b, controller: true, kind: `
	for object, kept := range map[string]bool{
		`kind: ReplicaSet` + owner + `Deployment}]}, spec: {replicas: 0}}`:                                                         false,
		`kind: ReplicaSet` + owner + `Deployment}]}, spec: {replicas: 1}}`:                                                         true,
		`kind: ReplicaSet` + owner + `Widget}]}, spec: {replicas: 0}}`:                                                             true,
		`kind: ReplicaSet, metadata: {name: a}, spec: {replicas: 0}}`:                                                              true,
		`kind: ControllerRevision` + owner + `StatefulSet}]}}`:                                                                     false,
		`kind: ControllerRevision` + owner + `DaemonSet}]}}`:                                                                       false,
		`kind: ControllerRevision` + owner + `Widget}]}}`:                                                                          true,
		`kind: ControllerRevision, metadata: {name: a}}`:                                                                           true,
		`kind: Endpoints, apiVersion: v1, metadata: {name: a, labels: {endpoints.kubernetes.io/managed-by: endpoint-controller}}}`: false,
		`kind: Endpoints, apiVersion: v1, metadata: {name: a, labels: {endpoints.kubernetes.io/managed-by: another}}}`:             true,
		`kind: Endpoints, apiVersion: v1, metadata: {name: a}}`:                                                                    true,
	} {
		if !strings.Contains(object, "apiVersion") {
			object = "apiVersion: apps/v1, " + object
		}
		NewWithT(t).Expect(snapshotOf(t, "{"+object)).To(HaveLen(map[bool]int{true: 1}[kept]), object)
	}
}

func TestDiffShowsOtherDifferences(t *testing.T) {
	for name, test := range map[string]struct{ from, to, shown string }{
		"field":                {"port: 80", "port: 81", "+    port: 81"},
		"deleted owner":        {"web, uid: UID1}]", "web, uid: 00000000-0000-4000-8000-000000000009}]", "+    uid: <unknown uid>"},
		"stale status":         {"observedGeneration: 3", "observedGeneration: 2", "+  observedGeneration: <stale>"},
		"missing list element": {", web-7d4b9-POD2]", "]", "-  - web-7d4b9-*"},
		"different kind":       {"kind: Service", "kind: Gateway", "- Service/web is missing\n"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(state).To(ContainSubstring(test.from))
			changed := append([]string{test.from, test.to}, second...)
			changed[1] = strings.NewReplacer(second...).Replace(test.to)
			g.Expect(Diff(run(t, first...), run(t, changed...))).To(ContainSubstring(test.shown))
		})
	}
}
