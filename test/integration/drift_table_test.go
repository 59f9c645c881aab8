package integration

import "maps"

// driftCase describes a change to one field that the operator owns.
type driftCase struct {
	// value is the new value of the field. patch is set instead if the change requires more than one operation.
	value            any
	patch            []operation
	changed, removed outcome
	// says is text that the repair's Event must contain in addition to the old and the new value. If the repair is
	// rejected, the status must contain this text instead.
	says string
}

type outcome int

const (
	repaired outcome = iota
	refused          // the API server rejects the change
	harmless         // the API server sets a default that equals the desired value
	rejected         // the API server rejects the repair, and the status reports the rejection
)

// swap describes a change to more than one field.
type swap struct {
	what  string
	patch []operation
	// says is text that the Event about the repair must contain. If the repair is rejected, the status must contain it.
	says string
}

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

type jsonObject = map[string]any

// theContainer is the JSON pointer to the only container.
const theContainer = "/spec/template/spec/containers/0"

// metadataFields are the metadata fields that the operator owns in every child.
var metadataFields = map[string]driftCase{
	".metadata.annotations.operator-assay.github.io/owner-uid": {value: "tampered"},
	".metadata.labels.app.kubernetes.io/instance":              {value: "tampered"},
	".metadata.labels.app.kubernetes.io/managed-by":            {value: "tampered"},
	".metadata.labels.app.kubernetes.io/name":                  {value: "tampered"},
	`.metadata.ownerReferences[uid="UID"]`: {patch: []operation{
		{"replace", "/metadata/ownerReferences/0/controller", false},
	}},
}

// deploymentFields returns the fields that the operator owns in a Deployment. name and port belong to its only
// container.
func deploymentFields(name, port string) map[string]driftCase {
	fields := maps.Clone(metadataFields)
	// The selector is immutable, and the Pod template must keep the labels that it selects.
	immutable := driftCase{value: "tampered", changed: refused, removed: refused}
	fields[".spec.selector"] = driftCase{value: jsonObject{"matchLabels": jsonObject{"app": "tampered"}}, changed: refused, removed: refused}
	for _, label := range []string{"instance", "managed-by", "name"} {
		fields[".spec.template.metadata.labels.app.kubernetes.io/"+label] = immutable
	}
	fields[".spec.replicas"] = driftCase{value: 3}
	fields[".spec.strategy.type"] = driftCase{patch: []operation{
		{"replace", "/spec/strategy", jsonObject{"type": "Recreate"}},
	}, removed: harmless}
	fields[".spec.strategy.rollingUpdate.maxUnavailable"] = driftCase{value: "50%"}
	fields[".spec.template.spec.terminationGracePeriodSeconds"] = driftCase{value: 60, removed: harmless}
	fields[".spec.template.spec.automountServiceAccountToken"] = driftCase{value: true}
	fields[".spec.template.spec.securityContext.seccompProfile.type"] = driftCase{value: "Unconfined", removed: refused}

	container := `.spec.template.spec.containers[name="` + name + `"]`
	// Lists are merged by key. If another client changes the key of an element, that client owns the element, and the
	// operator adds its own element again.
	fields[container+".name"] = driftCase{value: "tampered", removed: refused, says: "containers[1].name: none → " + name}
	fields[container+".image"] = driftCase{value: "tampered:1", removed: refused}
	fields[container+".ports[containerPort="+port+`,protocol="TCP"].containerPort`] = driftCase{value: 1234, changed: rejected, removed: refused, says: "Duplicate value"}
	fields[container+".ports[containerPort="+port+`,protocol="TCP"].name`] = driftCase{value: "tampered"}
	fields[container+".ports[containerPort="+port+`,protocol="TCP"].protocol`] = driftCase{value: "UDP", changed: rejected, removed: harmless, says: "Duplicate value"}
	fields[container+".readinessProbe.tcpSocket.port"] = driftCase{value: 1234, removed: refused}
	fields[container+".readinessProbe.periodSeconds"] = driftCase{value: 60}
	fields[container+".lifecycle.preStop.sleep.seconds"] = driftCase{value: 1}
	fields[container+".securityContext.allowPrivilegeEscalation"] = driftCase{value: true}
	return fields
}

// memcachedOnlyFields are the fields of a Memcached's Deployment that a WebServer's Deployment does not have.
var memcachedOnlyFields = map[string]driftCase{
	".spec.template.spec.securityContext.runAsNonRoot":                                        {value: false},
	".spec.template.spec.securityContext.runAsUser":                                           {value: 1},
	`.spec.template.spec.containers[name="memcached"].command`:                                {value: []string{"memcached", "-m=1"}},
	`.spec.template.spec.containers[name="memcached"].securityContext.readOnlyRootFilesystem`: {value: false},
	`.spec.template.spec.containers[name="memcached"].securityContext.capabilities.drop`:      {value: []string{"KILL"}},
}

var serviceFields = func() map[string]driftCase {
	fields := maps.Clone(metadataFields)
	fields[".spec.type"] = driftCase{value: "ClusterIP"}
	fields[".spec.selector"] = driftCase{value: jsonObject{"app": "tampered"}}
	port := `.spec.ports[port=80,protocol="TCP"]`
	fields[port+".name"] = driftCase{value: "tampered"}
	fields[port+".port"] = driftCase{value: 81, changed: rejected, removed: refused, says: "duplicate nodePort"}
	fields[port+".protocol"] = driftCase{value: "UDP", changed: rejected, removed: harmless, says: "Duplicate value"}
	fields[port+".targetPort"] = driftCase{value: 1234}
	fields[port+".nodePort"] = driftCase{value: 30001, removed: harmless} // the API server allocates this port only if no others are free
	return fields
}()

// deploymentSwaps replace fields that the operator owns, or add other fields.
var deploymentSwaps = []swap{
	{"removing every label", []operation{{"remove", "/metadata/labels", nil}}, "metadata.labels.app.kubernetes.io/instance: none → "},
	{"removing every annotation", []operation{{"remove", "/metadata/annotations", nil}}, "owner-uid: none → "},
	{"removing the owner", []operation{{"remove", "/metadata/ownerReferences", nil}}, "metadata.ownerReferences[0].controller: none → true"},
	{"removing the readiness probe", []operation{{"remove", theContainer + "/readinessProbe", nil}}, "readinessProbe.periodSeconds: none → 1"},
	{"removing the graceful stop", []operation{{"remove", theContainer + "/lifecycle", nil}}, "lifecycle.preStop.sleep.seconds: none → 5"},
	{"replacing the container", []operation{{"replace", theContainer, jsonObject{"name": "other", "image": "other:1"}}}, "image: "},
}

// rejectedDeploymentSwaps add a field of another manager that conflicts with the operator's fields, such as a second
// probe handler. The API server rejects the repair until that field is removed.
var rejectedDeploymentSwaps = []swap{
	{"probing by HTTP", []operation{{"replace", theContainer + "/readinessProbe", jsonObject{"httpGet": jsonObject{"port": 1234}}}}, "may not specify more than 1 handler type"},
	{"rolling out without a Pod more", []operation{
		{"replace", "/spec/strategy/rollingUpdate", jsonObject{"maxSurge": "0%", "maxUnavailable": 1}},
	}, "may not be 0 when `maxSurge` is 0"},
	{"privileging the container", []operation{
		{"replace", theContainer + "/securityContext", jsonObject{"privileged": true, "allowPrivilegeEscalation": true}},
	}, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"},
}

var serviceSwaps = []swap{
	{"naming a host elsewhere", []operation{
		{"replace", "/spec", jsonObject{"type": "ExternalName", "externalName": "example.com"}},
	}, "spec.type: ExternalName → NodePort"},
	{"removing every label", []operation{{"remove", "/metadata/labels", nil}}, "metadata.labels.app.kubernetes.io/instance: none → "},
	{"removing the owner", []operation{{"remove", "/metadata/ownerReferences", nil}}, "metadata.ownerReferences[0].controller: none → true"},
	{"replacing the port", []operation{{"replace", "/spec/ports/0", jsonObject{"name": "other", "port": 90}}}, "spec.ports[1].port: none → 80"},
}

// rejectedServiceSwaps do the same for a Service.
var rejectedServiceSwaps = []swap{
	{"balancing load of a few", []operation{
		{"replace", "/spec/type", "LoadBalancer"}, {"add", "/spec/loadBalancerSourceRanges", []string{"192.0.2.0/24"}},
	}, "LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"},
}
