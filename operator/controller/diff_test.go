package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Lists are compared by index, so inserting an element at the front changes every element.
func TestDiffIsLimited(t *testing.T) {
	var names []any
	for i := range 5000 {
		names = append(names, fmt.Sprintf("cache-6d5f8b7c9d-%05d", i))
	}
	got := diff(map[string]any{"nodes": names}, map[string]any{"nodes": append([]any{"cache-0"}, names...)})
	if size := len(strings.Join(got, ", ")); size > 4096 || got[0] != "nodes[0]: cache-6d5f8b7c9d-00000 → cache-0" || got[len(got)-1] != fmt.Sprintf("… and %d more", 5001-maxChanges) {
		t.Errorf("got %d bytes, from %q to %q", size, got[0], got[len(got)-1])
	}
	if one := diff(nil, map[string]any{"nodes": names[:maxChanges+1]}); one[len(one)-1] != "… and 1 more" {
		t.Errorf("%d changes: got %q at the end", maxChanges+1, one[len(one)-1])
	}
	few := diff(nil, map[string]any{"nodes": names[:maxChanges]})
	if last := len(few) - 1; last != maxChanges-1 || !strings.HasPrefix(few[last], "nodes[") {
		t.Errorf("%d changes: got %d lines, the last %q", maxChanges, len(few), few[last])
	}
}

func TestTruncate(t *testing.T) {
	for text, want := range map[string]string{"abcdef": "abcdef", "abcdefg": "abc…", "abäöü": "ab…"} {
		if got := truncate(text, 6); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestDiff(t *testing.T) {
	for name, test := range map[string]struct {
		before, after map[string]any
		want          []string
	}{
		"nothing": {
			before: map[string]any{"spec": map[string]any{"replicas": int64(3)}},
			after:  map[string]any{"spec": map[string]any{"replicas": int64(3)}},
		},
		"the annotation of kubectl apply, which may contain a password": {
			after: map[string]any{"metadata": map[string]any{"annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": "{}"}}},
		},
		"a value": {
			before: map[string]any{"spec": map[string]any{"replicas": int64(3)}},
			after:  map[string]any{"spec": map[string]any{"replicas": int64(4)}},
			want:   []string{"spec.replicas: 3 → 4"},
		},
		"added and removed values": {
			before: map[string]any{"probe": map[string]any{"port": int64(80)}},
			after:  map[string]any{"args": []any{"-v"}},
			want:   []string{"args[0]: none → -v", "probe.port: 80 → none"},
		},
		"a value that becomes a structure": {
			before: map[string]any{"port": "http"},
			after:  map[string]any{"port": map[string]any{"number": int64(80)}},
			want:   []string{"port: http → none", "port.number: none → 80"},
		},
		"fields that the API server sets": {
			before: map[string]any{"metadata": map[string]any{"resourceVersion": "1", "generation": int64(1), "creationTimestamp": "then"}},
			after: map[string]any{"metadata": map[string]any{"resourceVersion": "2", "generation": int64(2), "managedFields": []any{"x"}, "uid": "u"},
				"status": map[string]any{"x": "y"}, "apiVersion": "v1", "kind": "Service"},
		},
	} {
		if got := diff(test.before, test.after); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
