package controller

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

func decode[R resource](t *testing.T, fields map[string]any, into R) R {
	t.Helper()
	noError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(fields, into))
	return into
}

// The fields are read from the CRDs, so the test fails if the operator ignores a new field.
func TestEverySpecFieldReachesAChild(t *testing.T) {
	least := map[string]any{"image": "nginx:1.23.1", "replicas": int64(1), "port": int64(80), "size": int64(1)}
	others := map[string]any{"integer": int64(30999), "string": "other:1", "boolean": true}
	for _, crd := range installedKinds(t) {
		applied := func(spec map[string]any) string {
			fields := map[string]any{"metadata": map[string]any{"name": "sample"}, "spec": spec}
			var c []*child
			if crd.Spec.Names.Kind == webServers.Kind {
				c = webServers.children(webServers, decode(t, fields, &webserverv1.WebServer{}))
			} else {
				c = memcacheds.children(memcacheds, decode(t, fields, &memcachedv1alpha1.Memcached{}))
			}
			var desired []string
			for _, child := range c {
				desired = append(desired, fmt.Sprint(fieldsOf(child.desired)))
			}
			return strings.Join(desired, "\n")
		}
		for name, field := range crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties {
			changed := maps.Clone(least)
			changed[name] = others[field.Type]
			if changed[name] == nil {
				t.Errorf("the test has no value for %s.spec.%s of type %s", crd.Name, name, field.Type)
			} else if applied(changed) == applied(least) {
				t.Errorf("changing %s.spec.%s did not change any child", crd.Name, name)
			}
		}
	}
}
