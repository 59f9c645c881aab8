package record

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func newTestHistory(t *testing.T) *History {
	t.Helper()
	history, err := NewHistory(t.Context(), nil, "")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return history
}

// configMap returns a version of the ConfigMap "settings", with the same UID in each version.
func configMap(namespace string, value int64, version int) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"value": value}}}
	object.SetAPIVersion("v1")
	object.SetKind("ConfigMap")
	object.SetNamespace(namespace)
	object.SetName("settings")
	object.SetUID(types.UID("uid of " + namespace))
	object.SetResourceVersion(fmt.Sprint(version))
	return object
}

type forbiddenLister struct{ client.WithWatch }

func (forbiddenLister) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("forbidden")
}

func TestWatchErrorNamesKind(t *testing.T) {
	_, err := NewHistory(t.Context(), forbiddenLister{}, "", schema.GroupVersionKind{Version: "v1", Kind: "Secret"})
	NewWithT(t).Expect(err).To(MatchError("cannot watch Secret: forbidden"))
}

func TestDroppedNamespaceIsNotRecorded(t *testing.T) {
	g := NewWithT(t)
	history := newTestHistory(t)
	for _, namespace := range []string{"one", "other"} {
		history.Record(ObjectVersion{Unstructured: configMap(namespace, 0, 1)})
	}
	history.Drop("one")
	g.Expect(history.Versions("one")).To(BeEmpty())
	history.Record(ObjectVersion{Unstructured: configMap("one", 1, 2), Deleted: true})
	g.Expect(history.Versions("one")).To(BeEmpty(), "versions after Drop are ignored")
	g.Expect(history.Versions("other")).To(HaveLen(1))
}

func TestWaitStableWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		history := newTestHistory(t)
		change := func(namespace string) { history.Record(ObjectVersion{Unstructured: configMap(namespace, 0, 1)}) }
		change("one")
		time.Sleep(time.Hour)
		start := time.Now()
		g.Expect(history.WaitStable(t.Context(), "one", time.Second)).To(Succeed())
		g.Expect(time.Since(start)).To(Equal(time.Second), "the window starts at the call")

		go func() {
			time.Sleep(700 * time.Millisecond)
			change("one")
			time.Sleep(700 * time.Millisecond)
			change("other")
		}()
		start = time.Now()
		g.Expect(history.WaitStable(t.Context(), "one", time.Second)).To(Succeed())
		g.Expect(time.Since(start)).To(Equal(1700*time.Millisecond), "a change in the namespace restarts the window")

		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		g.Expect(history.WaitStable(short, "one", time.Second)).To(MatchError("namespace one changed within 1s, most recently ConfigMap settings: context deadline exceeded"))
	})
}

func TestObjectsReturnsLatestVersions(t *testing.T) {
	g := NewWithT(t)
	history := newTestHistory(t)
	history.Record(ObjectVersion{Unstructured: configMap("one", 1, 1)})
	history.Record(ObjectVersion{Unstructured: configMap("one", 2, 2)})
	g.Expect(history.Objects("one")).To(HaveExactElements(*configMap("one", 2, 2)))
	history.Record(ObjectVersion{Unstructured: configMap("one", 2, 3), Deleted: true})
	g.Expect(history.Objects("one")).To(BeEmpty())
}

func TestRecordAllForOneNamespace(t *testing.T) {
	g, history := NewWithT(t), newTestHistory(t)
	names := func(namespace string) (found []string) {
		for _, object := range history.Objects(namespace) {
			found = append(found, object.GetNamespace()+" "+object.GetResourceVersion())
		}
		return found
	}
	record := func(namespace string, version int, deleted bool) {
		history.Record(ObjectVersion{Unstructured: configMap(namespace, 0, version), Deleted: deleted})
	}
	record("", 1, false)
	record("other", 2, false)
	history.RecordAllFor("run")
	record("", 3, false)
	record("run", 4, false)
	record("gone", 5, false)
	record("gone", 6, true)
	g.Expect(names("run")).To(Equal([]string{" 3", "run 4"}))
	g.Expect(names("")).To(Equal([]string{" 1"}))
	g.Expect(history.Known()).To(HaveLen(3))
	g.Expect(history.Known()["uid of "].GetResourceVersion()).To(Equal("3"))

	history.KeepLatest("later")
	g.Expect(names("run")).To(BeEmpty())
	g.Expect(names("later")).To(Equal([]string{"other 2", " 3", "run 4"}))
	history.RecordAllFor("")
	record("other", 7, false)
	g.Expect(names("other")).To(Equal([]string{"other 7"}))
}

func TestWaitForRechecksOnChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		history := newTestHistory(t)
		go func() {
			for version := range 3 {
				time.Sleep(time.Second)
				history.Record(ObjectVersion{Unstructured: configMap("other", 0, version)})
				history.Record(ObjectVersion{Unstructured: configMap("one", int64(version), version)})
			}
		}()
		for _, namespace := range []string{"one", ""} {
			start, checks := time.Now(), 0
			err := history.WaitFor(t.Context(), namespace, time.Minute, func(context.Context) error {
				checks++
				if len(history.Versions("one")) == 0 {
					return fmt.Errorf("no version is recorded")
				}
				return nil
			})
			g.Expect(err).NotTo(HaveOccurred())
			if namespace == "one" {
				g.Expect(time.Since(start)).To(Equal(time.Second))
				g.Expect(checks).To(Equal(2), "once initially, and once after the change in the namespace")
			}
		}
		time.Sleep(time.Minute)
	})
}

func TestHistoryIgnoresOperatorPod(t *testing.T) {
	g := NewWithT(t)
	history := newTestHistory(t)
	changed, _ := history.Changed("one")
	pod := configMap("one", 0, 1)
	pod.SetKind("Pod")
	pod.SetName(OwnPod("controller-manager"))
	history.Record(ObjectVersion{Unstructured: pod})
	g.Expect(history.Versions("one")).To(BeEmpty())
	g.Expect(changed).NotTo(BeClosed(), "the operator's own Pod is not a change")
	child := pod.DeepCopy()
	child.SetName("controller-manager-0")
	history.Record(ObjectVersion{Unstructured: child})
	g.Expect(history.Versions("one")).To(HaveLen(1))
	g.Expect(Request{Resource: "pods", Name: OwnPod("controller-manager")}.IsOwnPod()).To(BeTrue())
	g.Expect(Request{Resource: "configmaps", Name: OwnPod("controller-manager")}.IsOwnPod()).To(BeFalse())
}
