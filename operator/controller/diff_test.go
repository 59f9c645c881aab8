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
	if size := len(strings.Join(got, ", ")); size > 4096 || got[0] != "nodes[0]: cache-6d5f8b7c9d-00000 → cache-0" || got[len(got)-1] != fmt.Sprintf("… and %d more", 5001-50) {
		t.Errorf("got %d bytes, from %q to %q", size, got[0], got[len(got)-1])
	}
	if one := diff(nil, map[string]any{"nodes": names[:maxChanges+1]}); one[len(one)-1] != "… and 1 more" {
		t.Errorf("%d changes: got %q at the end", maxChanges+1, one[len(one)-1])
	}
	if few := diff(nil, map[string]any{"nodes": names[:maxChanges]}); len(few) != maxChanges || !strings.HasPrefix(few[maxChanges-1], "nodes[") {
		t.Errorf("%d changes: got %d lines, the last %q", maxChanges, len(few), few[len(few)-1])
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
	type fields = map[string]any
	for name, test := range map[string]struct {
		before, after fields
		want          []string
	}{
		"nothing": {fields{"spec": fields{"replicas": int64(3)}}, fields{"spec": fields{"replicas": int64(3)}}, nil},
		"the annotation of kubectl apply, which may contain a password": {nil, fields{"metadata": fields{"annotations": fields{"kubectl.kubernetes.io/last-applied-configuration": "{}"}}}, nil},
		"an environment variable, which may contain a password":         {nil, fields{"containers": []any{fields{"env": []any{fields{"value": "secret"}}}}}, []string{"containers[0].env[0].value: changed"}},
		"a value":                          {fields{"spec": fields{"replicas": int64(3)}}, fields{"spec": fields{"replicas": int64(4)}}, []string{"spec.replicas: 3 → 4"}},
		"added and removed values":         {fields{"probe": fields{"port": int64(80)}}, fields{"args": []any{"-v"}}, []string{"args[0]: none → -v", "probe.port: 80 → none"}},
		"a value that becomes a structure": {fields{"port": "http"}, fields{"port": fields{"number": int64(80)}}, []string{"port: http → none", "port.number: none → 80"}},
		"fields that the API server sets": {fields{"metadata": fields{"resourceVersion": "1", "generation": int64(1), "creationTimestamp": "then"}},
			fields{"metadata": fields{"resourceVersion": "2", "generation": int64(2), "managedFields": []any{"x"}, "uid": "u"}, "status": fields{"x": "y"}, "apiVersion": "v1", "kind": "Service"}, nil},
	} {
		if got := diff(test.before, test.after); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
