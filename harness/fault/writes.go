package fault

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

// journal is what the operator has changed.
type journal struct {
	writes         []Write
	versions       map[string]string    // the resourceVersion of each object in the last response about it
	generatedNames map[string]string    // the patterns of names that the API server generated, or that end with a hash
	locks          sets.Set[RequestKey] // the objects that are locks: Verb is empty, and Nth is 0
}

// normalized returns the name that an object has in every run: "web-*" if the API server generated it from the prefix "web-".
func (j *journal) normalized(name string, scope Scope) string {
	return record.NormalizeName(cmp.Or(j.generatedNames[name], name), scope.Namespace)
}

// Write is a write that the API server has carried out.
type Write struct {
	RequestKey
	// Created and Deleted report whether the object was created or deleted.
	Created, Deleted bool
	// Object is the name, "web-*" for one that the API server generated from the prefix "web-", "web-<hash>" for one that ends
	// with the hash of a Pods' template, or "*" for all that a deletecollection deleted.
	Object string
	// ResourceVersion is the version of the object after the write; empty if the response has none.
	ResourceVersion string
}

// Writes returns the writes that changed an object, in order, without Events, which hold no state, locks and the
// operator's own Pod.
func (in *Injector) Writes() []Write {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.journal.writes)
}

// RequestCounts returns how often each request was sent, without those that looked for a lock. Nth of the keys is 0.
func (in *Injector) RequestCounts() map[RequestKey]int {
	in.mu.Lock()
	defer in.mu.Unlock()
	counts := maps.Clone(in.schedule.counts)
	maps.DeleteFunc(counts, func(key RequestKey, _ int) bool {
		return in.journal.locks.Has(RequestKey{Target: key.Target, Name: key.Name})
	})
	return counts
}

// recordLock records that an object is a lock.
func (in *Injector) recordLock(target, name string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.journal.locks.Insert(RequestKey{Target: target, Name: in.journal.normalized(name, in.scope)})
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
		in.journal.generatedNames[name] = object.GenerateName + "*"
	} else if stem, hashed := strings.CutSuffix(name, "-"+record.TemplateHash(object.Labels)); hashed {
		in.journal.generatedNames[name] = stem + "-<hash>"
	}
	id := request.Group + "/" + request.Resource + "/" + name
	name = in.journal.normalized(name, in.scope)
	before := in.journal.versions[id]
	version := object.ResourceVersion
	in.journal.versions[id] = version
	if request.IsWrite() && (status == 201 || version == "" || version != before) {
		in.addWrite(Write{RequestKey: key, ResourceVersion: version, Object: name, Created: status == 201 && request.Subresource == "", Deleted: request.Verb == "delete"})
	}
}

// addWrite adds a write, also to what follows the first fault, unless it was sent before. The caller holds the lock.
func (in *Injector) addWrite(write Write) {
	in.journal.writes = append(in.journal.writes, write)
	if in.schedule.countsBefore == nil {
		return
	}
	key := write.RequestKey
	key.Nth = 0
	if key.Nth = write.Nth - in.schedule.countsBefore[key]; key.Nth > 0 {
		in.schedule.aftermath = append(in.schedule.aftermath, key)
	}
}

// responseObject holds the fields of a response that are read here.
type responseObject struct {
	metav1.PartialObjectMetadata
	Items []json.RawMessage `json:"items"`
}
