package faultinject

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/operator-assay/assay/test/harness/record"
)

// Write is a write that the API server has done.
type Write struct {
	RequestKey
	// Created and Deleted tell what became of the object.
	Created, Deleted bool
	// Object is the name, "web-*" for one that the API server made from the prefix "web-", or "*" for all
	// that a deletecollection found.
	Object string
}

// Writes gives the writes so far that changed something, in their order. Events and Leases are not
// among them: they carry no state that is worked with.
func (in *Injector) Writes() []Write {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.writes)
}

// RequestCounts gives how often each request was met so far.
func (in *Injector) RequestCounts() map[RequestKey]int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return maps.Clone(in.counts)
}

// recordResponse learns from the API server's answer what a request has brought about.
func (in *Injector) recordResponse(point RequestKey, request *record.Request, status int, object responseObject) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if request.Verb == "deletecollection" && len(object.Items) > 0 {
		in.writes = append(in.writes, Write{RequestKey: point, Object: "*", Deleted: true})
	}
	if status >= 300 || object.Metadata.Name == "" && request.Name == "" || request.IsEvent() || request.IsLease() {
		return
	}
	name := cmp.Or(request.Name, object.Metadata.Name)
	if object.Metadata.GenerateName != "" {
		in.generatedNames[name] = object.Metadata.GenerateName + "*"
	}
	name = in.normalized(name)
	key := request.Group + "/" + request.Resource + "/" + name
	before := in.versions[key]
	version := object.Metadata.ResourceVersion
	in.versions[key] = version
	if request.IsWrite() && (status == 201 || version == "" || version != before) {
		in.writes = append(in.writes, Write{RequestKey: point, Object: name, Created: status == 201 && request.Subresource == "", Deleted: request.Verb == "delete"})
	}
}

// responseObject is what is read of an object that the API server answered with.
type responseObject struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name            string `json:"name"`
		GenerateName    string `json:"generateName"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}
