package fault

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-assay/assay/harness/record"
)

// Write is a write that the API server has done.
type Write struct {
	RequestKey
	// Created and Deleted tell whether the object was created or deleted.
	Created, Deleted bool
	// Object is the name, "web-*" for one that the API server generated from the prefix "web-", "web-<hash>" for one that ends
	// with the hash of a Pods' template, or "*" for all that a deletecollection deleted.
	Object string
}

// Writes returns the writes that changed an object, in order, without Events, which hold no state, locks and the
// operator's own Pod.
func (in *Injector) Writes() []Write {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.writes)
}

// RequestCounts returns how often each request was sent, without those that looked for a lock. Nth of the keys is 0.
func (in *Injector) RequestCounts() map[RequestKey]int {
	in.mu.Lock()
	defer in.mu.Unlock()
	counts := maps.Clone(in.counts)
	maps.DeleteFunc(counts, func(key RequestKey, _ int) bool {
		return in.lockKeys.Has(RequestKey{Target: key.Target, Name: key.Name})
	})
	return counts
}

// recordLock records that an object is a lock.
func (in *Injector) recordLock(target, name string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.lockKeys.Insert(RequestKey{Target: target, Name: in.normalized(name)})
}

// recordResponse records what a request has changed, from the API server's response.
func (in *Injector) recordResponse(key RequestKey, request *record.Request, status int, object responseObject) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if request.Verb == "deletecollection" && len(object.Items) > 0 {
		in.addWrite(Write{RequestKey: key, Object: "*", Deleted: true})
	}
	if status >= 300 || object.Name == "" && request.Name == "" || request.IsEvent() || request.IsOwnPod() {
		return
	}
	name := cmp.Or(request.Name, object.Name)
	if object.GenerateName != "" {
		in.generatedNames[name] = object.GenerateName + "*"
	} else if stem, hashed := strings.CutSuffix(name, "-"+record.TemplateHash(object.Labels)); hashed {
		in.generatedNames[name] = stem + "-<hash>"
	}
	id := request.Group + "/" + request.Resource + "/" + name
	name = in.normalized(name)
	before := in.versions[id]
	version := object.ResourceVersion
	in.versions[id] = version
	if request.IsWrite() && (status == 201 || version == "" || version != before) {
		in.addWrite(Write{RequestKey: key, Object: name, Created: status == 201 && request.Subresource == "", Deleted: request.Verb == "delete"})
	}
}

// addWrite adds a write, also to what follows the first fault, unless it was sent before. The caller holds the lock.
func (in *Injector) addWrite(write Write) {
	in.writes = append(in.writes, write)
	if in.countsBefore == nil {
		return
	}
	key := write.RequestKey
	key.Nth = 0
	if key.Nth = write.Nth - in.countsBefore[key]; key.Nth > 0 {
		in.aftermath = append(in.aftermath, key)
	}
}

// responseObject holds the fields of a response that are read here.
type responseObject struct {
	metav1.PartialObjectMetadata
	Items []json.RawMessage `json:"items"`
}
