package controller

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/operator-assay/assay/operator/api/workload"
)

// A hidden Deployment lacks the label that the cache selects on, so the operator tries to create it. An admission
// webhook may reject this request before the API server detects that the Deployment already exists.
func TestRejectedChild(t *testing.T) {
	ours, label := map[string]string{annotationOwner: "cache-uid"}, map[string]string{labelManagedBy: Name}
	deleted, collector := new(metav1.Now()), []string{metav1.FinalizerDeleteDependents}
	for name, test := range map[string]struct {
		stored    metav1.ObjectMeta
		asDesired bool
		reason    string
		writes    int
	}{
		"does not exist":              {metav1.ObjectMeta{Name: "other"}, false, workload.ReasonRejected, 1},
		"is outdated":                 {metav1.ObjectMeta{Annotations: ours, Labels: label}, false, workload.ReasonRejected, 1},
		"is as desired":               {metav1.ObjectMeta{Annotations: ours, Labels: label}, true, "", 0},
		"is being deleted":            {metav1.ObjectMeta{Annotations: ours, Labels: label, DeletionTimestamp: deleted, Finalizers: collector}, false, workload.ReasonWaitingForDeletion, 0},
		"is not ours":                 {metav1.ObjectMeta{Labels: label}, false, workload.ReasonNotControlled, 0},
		"is hidden":                   {metav1.ObjectMeta{Annotations: ours}, false, workload.ReasonRejected, 2},
		"is hidden and not ours":      {metav1.ObjectMeta{}, false, workload.ReasonNotControlled, 1},
		"is hidden and being deleted": {metav1.ObjectMeta{Annotations: ours, DeletionTimestamp: deleted, Finalizers: collector}, false, workload.ReasonWaitingForDeletion, 1},
	} {
		t.Run(name, func(t *testing.T) {
			owner, writes := storedMemcached(), 0
			test.stored.Namespace, test.stored.Name, test.stored.UID = owner.Namespace, cmp.Or(test.stored.Name, owner.Name), "child-uid"
			stored := &appsv1.Deployment{ObjectMeta: test.stored}
			cached := []client.Object{owner}
			if stored.Labels != nil {
				cached = append(cached, stored)
			}
			r := newFakeReconciler(memcacheds, interceptor.NewClient(newFakeClient(t, cached...), interceptor.Funcs{
				Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
					writes++
					return errRejected
				}}))
			r.live = newFakeClient(t, stored)
			for range 3 {
				c := memcacheds.children(memcacheds, owner)[0]
				if test.asDesired {
					c.extract = func(client.Object) (any, error) { return c.desired, nil }
				}
				_, err := r.readChild(t.Context(), owner, c)
				noError(t, err)
				after, err := r.ensure(t.Context(), owner, []*child{c})
				latest := map[bool]time.Duration{true: 2 * minRetryDelay, false: never}[test.writes > 0]
				if name == "is being deleted" {
					latest = transientFailure // then the message may change
				}
				if err != nil || after <= 0 || after > latest || test.writes == 0 && after != latest {
					t.Errorf("got the next reconcile after %s, %v, want %s", after, err, latest)
				}
				if got := cmp.Or(c.problem, &problem{}); got.reason != test.reason || c.exists() != (stored.Name == owner.Name) {
					t.Errorf("got Deployment %q and problem %v, want %q", c.object.GetUID(), c.problem, test.reason)
				}
			}
			if writes != test.writes {
				t.Errorf("got %d writes, want %d, and then a delay", writes, test.writes)
			}
		})
	}
}

func TestRepairsAreLimitedAndReported(t *testing.T) {
	cache := storedMemcached()
	fake := newFakeClient(t, cache)
	synctest.Test(t, func(t *testing.T) {
		r, created := newFakeReconciler(memcacheds, fake), -1 // the first creation is not a repair
		for range repairBurst + 3 {
			reconcileOnce(t, r, cache)
			deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: cache.Namespace, Name: cache.Name}}
			if err := fake.Delete(t.Context(), deployment); err == nil {
				created++
			}
		}
		if created != 10 {
			t.Errorf("got %d new Deployments, want 10", created)
		}
		time.Sleep(progressDelay)
		reconcileOnce(t, r, cache)
		noError(t, fake.Get(t.Context(), client.ObjectKeyFromObject(cache), cache))
		degraded, progressing := cache.Status.Condition(workload.Degraded), cache.Status.Condition(workload.Progressing)
		if degraded.Reason != workload.ReasonContested || !strings.Contains(degraded.Message, "another client keeps changing or deleting") || !strings.Contains(degraded.Message, "at most every 15s") ||
			progressing.Reason != workload.ReasonBlocked {
			t.Errorf("got Degraded %+v, Progressing %+v", degraded, progressing)
		}
		time.Sleep(repairInterval)
		if reconcileOnce(t, r, cache); fake.Get(t.Context(), client.ObjectKeyFromObject(cache), &appsv1.Deployment{}) != nil {
			t.Error("got no repair after the interval")
		}
	})
}

// reconcileOnce reconciles the owner and returns the delay until the next reconcile.
func reconcileOnce(t *testing.T, r *reconciler, owner client.Object) time.Duration {
	t.Helper()
	result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(owner)})
	noError(t, err)
	return result.RequeueAfter
}

// A retry must not be skipped if its delay expires while the operator compares the children.
func TestSkippedChildIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owner := storedMemcached()
		r, c := newFakeReconciler(memcacheds, newFakeClient(t, owner)), memcacheds.children(memcacheds, owner)[0]
		c.state = r.states.of(owner).child(c)
		delay := c.fail(owner, errRejected)
		c.extract = func(client.Object) (any, error) { time.Sleep(delay); return nil, nil }
		if after, err := r.ensure(t.Context(), owner, []*child{c}); err != nil || after != delay {
			t.Errorf("got a retry after %s, %v, want %s", after, err, delay)
		}
	})
}

// A child that was skipped because of its repair limit must be reported as Contested, even if another repair is allowed
// before the reconcile ends. The limit does not apply to an update.
func TestSkippedChildIsContested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owner := storedMemcached()
		owner.Status.ObservedGeneration = owner.Generation
		r, c := newFakeReconciler(memcacheds, newFakeClient(t, owner)), memcacheds.children(memcacheds, owner)[0]
		c.object.SetUID("child-uid")
		c.object.SetAnnotations(map[string]string{annotationOwner: string(owner.UID)})
		c.state = r.states.of(owner).child(c)
		c.state.repairs.AllowN(time.Now(), repairBurst)
		c.extract = func(client.Object) (any, error) { time.Sleep(repairInterval); return nil, nil }
		if _, err := r.ensure(t.Context(), owner, []*child{c}); err != nil || c.problem == nil || c.problem.reason != workload.ReasonContested {
			t.Errorf("got problem %v, %v, want Contested", c.problem, err)
		}
		c.state.repairs.Allow()
		c.state.updating = true
		if outdated, _ := r.outdated(owner, []*child{c}, time.Now()); len(outdated) == 0 || c.untilRepair(time.Now()) < 0 {
			t.Error("got a delayed update, or no repair limit")
		}
	})
}

// The status contains the new generation even if the first write fails. The retry must not count as a repair.
func TestRetryOfAnUpdateIsNotARepair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owner, failures := storedMemcached(), 1
		failing := interceptor.NewClient(newFakeClient(t, owner), interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
				if failures--; failures >= 0 {
					return errServer
				}
				return c.Patch(ctx, object, patch, options...)
			}})
		r := newFakeReconciler(memcacheds, failing)
		for i := 0; i < 5 && failures >= 0; i++ { // a report may precede the retry
			time.Sleep(reconcileOnce(t, r, owner))
		}
		c := memcacheds.children(memcacheds, owner)[0]
		if state := r.states.of(owner).child(c); failures >= 0 || state.repairs.Tokens() != repairBurst || state.writes != (writes{}) {
			t.Errorf("got %v repairs left and %+v after %d writes, want %d and no failure", state.repairs.Tokens(), state.writes, 1-failures, repairBurst)
		}
	})
}

func TestChildrenFailIndependently(t *testing.T) {
	ws := storedWebServer()
	failing := interceptor.NewClient(newFakeClient(t, ws), interceptor.Funcs{
		Patch: func(_ context.Context, _ client.WithWatch, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
			if _, ok := object.(*appsv1.Deployment); ok {
				return errConflict
			}
			return errRejected
		}})
	if after := reconcileOnce(t, newFakeReconciler(webServers, failing), ws); after <= 0 || after > lookAgain {
		t.Errorf("got a retry after %s, want it within %s", after, lookAgain)
	}
	noError(t, failing.Get(t.Context(), client.ObjectKeyFromObject(ws), ws))
	if got := ws.Status.Condition(workload.Degraded); got.Reason != workload.ReasonRejected {
		t.Errorf("got Degraded %+v, want Rejected because of the Service", got)
	}
}

// A Deployment without the managed-by label is not cached. After a spec change, its Pods must not be reported as gone.
// The same is true if the repair limit delays the write that would restore the label.
func TestHiddenChildIsReadIfNeeded(t *testing.T) {
	owner := storedMemcached()
	hidden := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: owner.Name, UID: "hidden-uid"}}
	r := newFakeReconciler(memcacheds, newFakeClient(t, owner))
	r.live = newFakeClient(t, hidden)
	for _, test := range []struct {
		observed, generation int64
		repairs              int
		read                 bool
	}{{0, 1, 0, false}, {1, 1, 0, false}, {1, 2, 0, true}, {1, 1, repairBurst, true}} {
		owner.Status.ObservedGeneration, owner.Generation = test.observed, test.generation
		c := memcacheds.children(memcacheds, owner)[0]
		r.states.of(owner).child(c).repairs.AllowN(time.Now(), test.repairs)
		if stale, err := r.readChild(t.Context(), owner, c); stale || err != nil || c.exists() != test.read {
			t.Errorf("observed %d of %d after %d repairs: got read: %t, %v, want %t", test.observed, test.generation, test.repairs, c.exists(), err, test.read)
		}
	}
}

// If another client changes or deletes a child while its watch is down, writes of the version in the cache fail.
func TestOldChildIsReadAfterConflict(t *testing.T) {
	owner, child := storedMemcached(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cache", UID: "child-uid", ResourceVersion: "1"}}
	r := newFakeReconciler(memcacheds, newFakeClient(t, child))
	r.states.of(owner).child(memcacheds.children(memcacheds, owner)[0]).repairs.AllowN(time.Now(), repairBurst) // does not matter for a cached child
	child.ResourceVersion = "2"
	changed := newFakeClient(t, child)
	for i, live := range []client.Reader{changed, changed, changed, newFakeClient(t)} {
		c, want := memcacheds.children(memcacheds, owner)[0], []string{"1", "2", "2", ""}[i]
		r.live = live
		if stale, err := r.readChild(t.Context(), owner, c); stale || err != nil || c.object.GetResourceVersion() != want {
			t.Errorf("got version %s, stale: %t, %v, want version %s", c.object.GetResourceVersion(), stale, err, want)
		}
		c.fail(owner, errConflict)
	}
}

func TestHiddenChildOfDeletedResourceIsNotWritten(t *testing.T) {
	owner, writes := storedMemcached(), 0
	r := newFakeReconciler(memcacheds, interceptor.NewClient(newFakeClient(t, owner), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, _ client.Object, _ client.Patch, _ ...client.PatchOption) error {
			writes++
			return cmp.Or(c.Delete(ctx, owner.DeepCopy()), error(errConflict))
		}}))
	r.live = newFakeClient(t, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: owner.Name, UID: "hidden-uid", Annotations: map[string]string{annotationOwner: "cache-uid"}}})
	if after := reconcileOnce(t, r, owner); writes != 1 || after != lookAgain {
		t.Errorf("got %d writes and the next reconcile after %s, want only the first write and %s", writes, after, lookAgain)
	}
}

// If an admission policy removes the managed-by label, the operator's last write never appears in the cache.
func TestHiddenChildIsNotPolled(t *testing.T) {
	owner := storedMemcached()
	lagging := interceptor.NewClient(newFakeClient(t, owner), interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return errRejected
		},
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return context.DeadlineExceeded
		}})
	for name, want := range map[string]bool{"hidden": false, "visible": true, "missing": true} {
		r, c := newFakeReconciler(memcacheds, lagging), memcacheds.children(memcacheds, owner)[0]
		stored := metav1.ObjectMeta{Namespace: owner.Namespace, Name: owner.Name, UID: "child-uid"}
		switch name {
		case "visible":
			stored.Labels = map[string]string{labelManagedBy: Name}
		case "missing":
			stored.Name = "another"
		}
		r.live = newFakeClient(t, &appsv1.Deployment{ObjectMeta: stored})
		if stale, err := r.readChild(t.Context(), owner, c); err != nil || stale != want || c.exists() == (name == "missing") {
			t.Errorf("%s: got stale: %t, %v, want %t", name, stale, err, want)
		}
	}
	r := newFakeReconciler(memcacheds, lagging) // the API server does not respond either
	c := memcacheds.children(memcacheds, owner)[0]
	if _, err := r.readChild(t.Context(), owner, c); err == nil {
		t.Error("got no error although the child could not be read")
	}
	if _, err := r.ensure(t.Context(), owner, []*child{c}); err == nil {
		t.Error("got no error although the rejected child could not be read")
	}
}

// A write may succeed even if its response is lost. If the child then matches, the failure is forgotten and a later
// change is a repair. After an obstacle, the first failure is not reported as Degraded.
func TestMatchAndObstacleEndFailures(t *testing.T) {
	for owner, want := range map[string]writes{"cache-uid": {}, "another": {updating: true}} {
		r, cache, children := storedReconciler(t)
		c := children[0]
		c.state = r.states.of(cache).child(c)
		c.fail(cache, errServer)
		c.object.SetUID("child-uid")
		c.object.SetLabels(map[string]string{labelManagedBy: Name})
		c.object.SetAnnotations(map[string]string{annotationOwner: owner})
		c.extract = func(client.Object) (any, error) { return c.desired, nil }
		if _, err := r.ensure(t.Context(), cache, children); err != nil || c.state.writes != want {
			t.Errorf("controlled by %s: got %v and %+v, want %+v", owner, err, c.state.writes, want)
		}
	}
}

// If a resource is deleted while its watch is down, the operator's last write never appears in the cache. If it still
// exists, the cache contains an old version, so the API server would reject every write of the status.
func TestStaleResourceIsNotReconciled(t *testing.T) {
	owner := storedMemcached()
	for want, stored := range map[time.Duration][]client.Object{0: nil, lookAgain: {owner}} {
		synctest.Test(t, func(t *testing.T) {
			fake := newFakeClient(t, stored...)
			r := newFakeReconciler(memcacheds, interceptor.NewClient(fake, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					if _, isChild := object.(*appsv1.Deployment); !isChild && !(&client.GetOptions{}).ApplyOptions(options).DisableReadYourWritesConsistency {
						<-ctx.Done()
						return ctx.Err()
					}
					return c.Get(ctx, key, object, options...)
				}}))
			r.states.of(owner)
			if got := reconcileOnce(t, r, owner); got != want || fake.Get(t.Context(), client.ObjectKeyFromObject(owner), &appsv1.Deployment{}) == nil {
				t.Errorf("resource exists: %t: got the next reconcile after %s or a Deployment, want %s and no Deployment", want > 0, got, want)
			}
			if _, kept := r.states.Load(client.ObjectKeyFromObject(owner)); kept != (want > 0) {
				t.Errorf("resource exists: %t: got a state: %t", want > 0, kept)
			}
			ended, end := context.WithTimeout(t.Context(), 0)
			defer end()
			if stale, _ := r.read(ended, client.ObjectKeyFromObject(owner), owner); stale {
				t.Error("got stale: true because the reconcile exceeded its own timeout")
			}
		})
	}
}

func TestReconcileErrors(t *testing.T) {
	for name, test := range map[string]struct {
		err      error
		accepted int // the number of status writes before the error; the first one precedes the child write
		after    time.Duration
		reads    int    // the number of reads before the error, or -1
		logged   string // a regular expression
	}{
		"a conflict is logged and retried":                {errConflict, 0, lookAgain, -1, `"The cache is stale","reason":"Conflict"`},
		"an error is returned":                            {errServer, 0, 0, -1, ""},
		"an error after a child write has no other delay": {errServer, 1, 0, -1, `(?s)"Reported status","changes":.*"Created","child":"Deployment","childName":"cache","changes":`},
		"the resource cannot be read":                     {errServer, 2, 0, 0, ""},
		"the child cannot be read":                        {errServer, 2, 0, 1, ""},
	} {
		owner, writes := storedMemcached(), 0
		owner.Spec.Size = 0 // without Pods, the rollout is complete, so the second status write does not wait
		failing := interceptor.NewClient(newFakeClient(t, owner), interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				if test.reads--; test.reads == -1 {
					return test.err
				}
				return c.Get(ctx, key, object, options...)
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, subresource string, object client.Object, options ...client.SubResourceUpdateOption) error {
				if writes++; writes > test.accepted {
					return test.err
				}
				return c.SubResource(subresource).Update(ctx, object, options...)
			}})
		var logged bytes.Buffer
		ctx := log.IntoContext(t.Context(), zap.New(zap.WriteTo(&logged)))
		result, err := newFakeReconciler(memcacheds, failing).Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(owner)})
		if result.RequeueAfter != test.after || test.after == 0 && !errors.Is(err, test.err) || test.after > 0 && err != nil {
			t.Errorf("%s: got %+v, %v, want a retry after %s", name, result, err, test.after)
		}
		if !regexp.MustCompile(test.logged).Match(logged.Bytes()) {
			t.Errorf("%s: got log %q, want %s", name, logged.String(), test.logged)
		}
	}
}
