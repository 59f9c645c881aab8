package controller

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// The other tests compare the children with what the operator applies, so only this test detects a wrong command, port
// or probe.
func TestDesiredChildrenMatchTestdata(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "team", Name: "sample", UID: "0e7c2e2c-7f1b-4a6f-9c3e-5d2f6a1b8c90"}
	web := func(change func(*webserverv1.WebServer)) []*child {
		ws := &webserverv1.WebServer{ObjectMeta: meta, Spec: webserverv1.WebServerSpec{Image: "nginx:1.23.1", Replicas: ptr.To[int32](3), Port: 8080}}
		change(ws)
		return webServers.children(webServers, ws)
	}
	cache := &memcachedv1alpha1.Memcached{ObjectMeta: meta, Spec: memcachedv1alpha1.MemcachedSpec{Image: "memcached:1.6", Size: 2}}
	for name, child := range map[string]*child{
		"memcached-deployment":       memcacheds.children(memcacheds, cache)[0],
		"webserver-deployment":       web(func(*webserverv1.WebServer) {})[0],
		"webserver-service":          web(func(*webserverv1.WebServer) {})[1],
		"webserver-service-named":    web(func(ws *webserverv1.WebServer) { ws.Spec.NodePort, ws.Status.NodePort = 30080, 31000 })[1],
		"webserver-service-recorded": web(func(ws *webserverv1.WebServer) { ws.Status.NodePort = 31000 })[1],
	} {
		file := filepath.Join("testdata", name+".yaml")
		want, err := os.ReadFile(file)
		noError(t, err)
		got, err := yaml.Marshal(child.desired)
		noError(t, err)
		if string(got) != string(want) {
			t.Errorf("%s differs from the applied fields:\n%s", file, got)
		}
		if child.object.GetName() == "" || !strings.HasPrefix(child.object.GetName(), meta.Name) || child.object.GetNamespace() != meta.Namespace {
			t.Errorf("got child %s/%s", child.object.GetNamespace(), child.object.GetName())
		}
	}
}
