package controller

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

func decode[R resource](t *testing.T, fields map[string]any, into R) R {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, into); err != nil {
		t.Fatal(err)
	}
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

// images contains image references of each form: with and without a tag, registry and digest.
var images = []workload.Image{"nginx:latest", "nginx", "memcached:1.6", "localhost:5000/team/nginx@sha256:" + workload.Image(strings.Repeat("a", 64))}

func TestSpecFieldChangesOnlyItsChildFields(t *testing.T) {
	const container = "spec.template.spec.containers[0]."
	expect := func(what any, before, after []*child, paths ...string) {
		t.Helper()
		var changed []string
		for i, child := range after {
			for _, change := range diff(fieldsOf(before[i].desired), fieldsOf(child.desired)) {
				path, _, _ := strings.Cut(change, ": ")
				changed = append(changed, path)
			}
		}
		if slices.Sort(changed); !slices.Equal(changed, paths) {
			t.Errorf("%v: got changes of %q, want %q", what, changed, paths)
		}
	}
	web := func(change func(*webserverv1.WebServerSpec)) []*child {
		ws := storedWebServer()
		ws.Spec.Replicas = ptr.To[int32](3)
		change(&ws.Spec)
		return webServers.children(webServers, ws)
	}
	cache := func(size int32, image workload.Image) []*child {
		mc := &memcachedv1alpha1.Memcached{ObjectMeta: storedWebServer().ObjectMeta, Spec: memcachedv1alpha1.MemcachedSpec{Size: size, Image: image}}
		return memcacheds.children(memcacheds, mc)
	}
	three, cached := web(func(*webserverv1.WebServerSpec) {}), cache(3, "memcached:1.6.39-alpine")
	for _, count := range []int32{0, 1, 2, 4, 10, 100, 10_000} {
		expect(count, three, web(func(spec *webserverv1.WebServerSpec) { spec.Replicas = &count }), "spec.replicas")
		expect(count, cached, cache(count, "memcached:1.6.39-alpine"), "spec.replicas")
	}
	for _, port := range []int32{1, 443, 1023, 1024, 8080, 11211, 65535} {
		expect(port, three, web(func(spec *webserverv1.WebServerSpec) { spec.Port = port }), container+"ports[0].containerPort", container+"readinessProbe.tcpSocket.port")
	}
	for _, image := range images {
		expect(image, three, web(func(spec *webserverv1.WebServerSpec) { spec.Image = image }), container+"image")
		expect(image, cached, cache(3, image), container+"image")
	}
	for _, port := range []int32{30000, 32767} {
		expect(port, three, web(func(spec *webserverv1.WebServerSpec) { spec.NodePort = port }), "spec.ports[0].nodePort")
	}
}
