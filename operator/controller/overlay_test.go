package controller

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
)

// TestWhatIsAsDesiredIsNotChangedByAReplacement: where one field is replaced, the others must not get their values twice.
func TestWhatIsAsDesiredIsNotChangedByAReplacement(t *testing.T) {
	ws, cache := storedWebServer(), &memcachedv1alpha1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cache", UID: "cache-uid"}}
	ws.Spec.NodePort = 30080
	for _, child := range append(webServers.children(webServers, ws).all(), memcacheds.children(memcacheds, cache).all()...) {
		for depth := range deepest + 1 {
			before, desired := fieldsOf(child.desired), fieldsOf(child.desired)
			if changes := diff(desired, overlay(before, fieldsOf(child.desired), depth)); len(changes) > 0 {
				t.Errorf("%s at depth %d: %q", child.object.GetName(), depth, changes)
			}
		}
	}
}

func TestAReplacementKeepsWhatOthersSetAsFarAsItsDepth(t *testing.T) {
	type fields = map[string]any
	const theirs, ours = "theirs", "ours"
	object := func() fields {
		return fields{
			"metadata": fields{"uid": theirs, "labels": fields{"a": theirs}},
			"status":   theirs,
			"spec": fields{
				"type": theirs,
				"list": []any{fields{"name": theirs}, fields{"name": ours, "x": theirs, "y": theirs}},
				"args": []any{theirs},
			},
		}
	}
	element, more := fields{"name": ours, "x": ours}, fields{"name": "more"}
	for depth, want := range []fields{
		{"metadata": fields{"labels": fields{"b": ours}}, "spec": fields{"list": []any{element, more}, "args": []any{ours}}},
		{"metadata": fields{"uid": theirs, "labels": fields{"b": ours}}, "status": theirs, "spec": fields{"list": []any{element, more}, "args": []any{ours}}},
		{"metadata": fields{"uid": theirs, "labels": fields{"a": theirs, "b": ours}}, "status": theirs, "spec": fields{"type": theirs, "list": []any{element, more}, "args": []any{ours}}},
		{"metadata": fields{"uid": theirs, "labels": fields{"a": theirs, "b": ours}}, "status": theirs, "spec": fields{"type": theirs, "list": []any{fields{"name": theirs}, element, more}, "args": []any{ours}}},
		{"metadata": fields{"uid": theirs, "labels": fields{"a": theirs, "b": ours}}, "status": theirs, "spec": fields{"type": theirs, "list": []any{fields{"name": theirs}, fields{"name": ours, "x": ours, "y": theirs}, more}, "args": []any{ours}}},
	} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			desired := fields{"metadata": fields{"labels": fields{"b": ours}}, "spec": fields{"list": []any{fields{"name": ours, "x": ours}, fields{"name": "more"}}, "args": []any{ours}}}
			if got := overlay(object(), desired, depth); !reflect.DeepEqual(got, any(want)) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	if got := overlay("text", fields{"a": ours}, deepest); !reflect.DeepEqual(got, any(fields{"a": ours})) {
		t.Errorf("a text became %v", got)
	}
	if got := overlay(fields{"a": theirs}, []any{element}, deepest); !reflect.DeepEqual(got, any([]any{element})) {
		t.Errorf("a map became %v", got)
	}
	if got := overlay([]any{element}, fields{"a": ours}, deepest); !reflect.DeepEqual(got, any(fields{"a": ours})) {
		t.Errorf("a list became %v", got)
	}
}

func TestARefusalIsToldFromWhatPasses(t *testing.T) {
	status := func(reason metav1.StatusReason) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Reason: reason}}
	}
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"an invalid field":               {apierrors.NewInvalid(schema.GroupKind{}, "web", nil), true},
		"a node port that is used twice": {fmt.Errorf("apply: %w", status(metav1.StatusReasonUnknown)), true},
		"a conflict":                     {status(metav1.StatusReasonConflict), false},
		"a quota":                        {status(metav1.StatusReasonForbidden), false},
		"a lost connection":              {errors.New("connection reset"), false},
		"nothing":                        {nil, false},
	} {
		if isRefusal(test.err) != test.want {
			t.Errorf("%s is a refusal: %t", name, !test.want)
		}
	}
}
