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
func (w *Injector) Writes() []Write {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.writes)
}

// RequestCounts gives how often each request was met so far.
func (w *Injector) RequestCounts() map[RequestKey]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.counts)
}

// recordResponse learns from the API server's answer what a request has brought about.
func (w *Injector) recordResponse(point RequestKey, request *record.Request, status int, object responseObject) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if request.Verb == "deletecollection" && len(object.Items) > 0 {
		w.writes = append(w.writes, Write{RequestKey: point, Object: "*", Deleted: true})
	}
	if status >= 300 || object.Metadata.Name == "" && request.Name == "" || request.IsEvent() || request.IsLease() {
		return
	}
	name := cmp.Or(request.Name, object.Metadata.Name)
	if object.Metadata.GenerateName != "" {
		w.generatedNames[name] = object.Metadata.GenerateName + "*"
	}
	name = w.normalized(name)
	key := request.Group + "/" + request.Resource + "/" + name
	before := w.versions[key]
	version := object.Metadata.ResourceVersion
	w.versions[key] = version
	if request.IsWrite() && (status == 201 || version == "" || version != before) {
		w.writes = append(w.writes, Write{RequestKey: point, Object: name, Created: status == 201 && request.Subresource == "", Deleted: request.Verb == "delete"})
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
