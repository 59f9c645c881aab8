package fault

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/operator-assay/assay/harness/record"
)

// Journal counts the requests of an operator and records its writes.
type Journal struct {
	namespace string

	mu             sync.Mutex         // protects the fields below
	counts         map[RequestKey]int // the number of requests so far; Nth is 0 in the keys
	countsBefore   map[RequestKey]int // the counts when the first fault applied; nil before that and after the next action
	writes         []Write
	writesAfter    []RequestKey
	versions       map[string]string // the last known resourceVersion of each object
	generatedNames map[string]string // maps generated names to patterns, such as web-x2x8k to web-*
}

func (j *Journal) count(request *record.Request) RequestKey {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := RequestKey{Verb: request.Verb, Target: request.Target(), Name: cmp.Or(j.normalized(request.Name), "-")}
	j.counts[key]++
	key.Nth = j.counts[key]
	return key
}

func (j *Journal) countOf(key RequestKey) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	key.Nth = 0
	return j.counts[key]
}

func (j *Journal) beginFault() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.countsBefore = maps.Clone(j.counts)
}

func (j *Journal) beginAction() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.countsBefore = nil
}

// normalized replaces the parts of a name that differ between runs. For example, it returns "web-*" for a name that was
// generated from the prefix "web-". The caller must hold the lock.
func (j *Journal) normalized(name string) string {
	return record.NormalizeName(cmp.Or(j.generatedNames[name], name), j.namespace)
}

// Write is a successful write.
type Write struct {
	RequestKey
	Created, Deleted bool
	// Object is the name of the object. It is "web-*" if the API server generated the name from the prefix "web-",
	// "web-<hash>" if the name ends with a pod-template hash, and "*" for a deletecollection request.
	Object          string
	ResourceVersion string // after the write; empty if the response contains none
}

// Writes returns the writes that changed an object, in order, except those to Events, locks and the operator's own Pod.
func (j *Journal) Writes() []Write {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.writes)
}

// WritesAfterFault returns the writes after the first fault and before the next action of the scenario, in order. Nth
// counts from the first fault, as At.Nth does for the second fault of a pair.
func (j *Journal) WritesAfterFault() []RequestKey {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.writesAfter)
}

func (j *Journal) forget(target, name string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	name = j.normalized(name)
	maps.DeleteFunc(j.counts, func(key RequestKey, _ int) bool { return key.Target == target && key.Name == name })
}

// RequestCounts returns how often each request was sent. Lock requests are excluded, and Nth is 0 in all keys.
func (j *Journal) RequestCounts() map[RequestKey]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.counts)
}

func (j *Journal) recordResponse(key RequestKey, request *record.Request, status int, object responseObject) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if request.Verb == "deletecollection" && len(object.Items) > 0 {
		j.addWrite(Write{RequestKey: key, Object: "*", Deleted: true})
	}
	if status >= 300 || object.Name == "" && request.Name == "" || request.IsEvent() || request.IsOwnPod() {
		return
	}
	name := cmp.Or(request.Name, object.Name)
	if object.GenerateName != "" {
		j.generatedNames[name] = object.GenerateName + "*"
	} else if stem, hashed := strings.CutSuffix(name, "-"+record.TemplateHash(object.Labels)); hashed {
		j.generatedNames[name] = stem + "-<hash>"
	}
	id := request.Group + "/" + request.Resource + "/" + name
	name = j.normalized(name)
	before, version := j.versions[id], object.ResourceVersion
	j.versions[id] = version
	if request.IsWrite() && (status == 201 || version == "" || version != before) {
		j.addWrite(Write{RequestKey: key, ResourceVersion: version, Object: name, Created: status == 201 && request.Subresource == "", Deleted: request.Verb == "delete"})
	}
}

// addWrite records a write. It also adds the write to writesAfter if its request was sent after the first fault and the
// next action has not begun yet. The caller must hold the lock.
func (j *Journal) addWrite(write Write) {
	j.writes = append(j.writes, write)
	if j.countsBefore == nil {
		return
	}
	key := write.RequestKey
	key.Nth = 0
	if key.Nth = write.Nth - j.countsBefore[key]; key.Nth > 0 {
		j.writesAfter = append(j.writesAfter, key)
	}
}
