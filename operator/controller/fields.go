package controller

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// fieldsOf are the fields of an object or of an apply configuration, as in JSON.
func fieldsOf(object any) map[string]any {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	utilruntime.Must(err) // the types of an API are those of JSON
	return fields
}

// fromFields is another value of a pointer's type, with these fields.
func fromFields[T any](fields map[string]any, like T) T {
	made := reflect.New(reflect.TypeOf(like).Elem()).Interface().(T)
	utilruntime.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(fields, made))
	return made
}
