package oracle_test

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/oracle"
)

func TestStuckDeletions(t *testing.T) {
	const theirs = "db.example.com/cleanup"
	deleted := func(finalizers ...string) unstructured.Unstructured {
		object := unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Database"}}
		object.SetName("main")
		object.SetDeletionTimestamp(new(metav1.Now()))
		object.SetFinalizers(finalizers)
		return object
	}
	setBy := func(manager, finalizer string) unstructured.Unstructured {
		object := deleted(theirs)
		object.SetManagedFields([]metav1.ManagedFieldsEntry{
			{Manager: "assay-user", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)},
			{Manager: "kubectl"},
			{Manager: "another", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:finalizers":{"v:\"another.example.com/cleanup\"":{}}}}`)},
			{Manager: manager, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:finalizers":{".":{},"v:\"` + finalizer + `\"":{}}}}`)},
		})
		return object
	}
	alive := deleted(theirs)
	alive.SetDeletionTimestamp(nil)
	generated := deleted(theirs)
	generated.SetGenerateName("main-")
	generated.SetName("main-x7k2p")
	for name, test := range map[string]struct {
		object unstructured.Unstructured
		want   []oracle.StuckDeletion
	}{
		"not deleted":                {alive, nil},
		"finalizer of the operator":  {deleted(theirs), []oracle.StuckDeletion{{"Database", "main", []string{theirs}}}},
		"finalizer without a slash":  {deleted("database.example.com"), []oracle.StuckDeletion{{"Database", "main", []string{"database.example.com"}}}},
		"generated name":             {generated, []oracle.StuckDeletion{{"Database", "main-*", []string{theirs}}}},
		"finalizers of Kubernetes":   {deleted("foregroundDeletion", "orphan", "kubernetes.io/pvc-protection", "service.kubernetes.io/load-balancer-cleanup"), nil},
		"several finalizers":         {deleted("foregroundDeletion", theirs), []oracle.StuckDeletion{{"Database", "main", []string{theirs}}}},
		"set by the scenario's user": {setBy("assay-user", theirs), nil},
		"the user set a longer name": {setBy("assay-user", "my-"+theirs), []oracle.StuckDeletion{{"Database", "main", []string{theirs}}}},
		"the user set another name":  {setBy("assay-user", theirs+"-now"), []oracle.StuckDeletion{{"Database", "main", []string{theirs}}}},
		"set by the operator":        {setBy("manager", theirs), []oracle.StuckDeletion{{"Database", "main", []string{theirs}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := oracle.StuckDeletions("run", "assay-user", []unstructured.Unstructured{test.object})
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
