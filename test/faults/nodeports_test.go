package faults_test

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The API server reserves the beginning of its default range for Services that request a specific port. It allocates
// these ports automatically only if all others are in use.
const (
	firstNodePort = 30000
	lastNodePort  = 30085
)

var ports nodePorts

// nodePorts assigns different node ports to each namespace. A node port is unique in the cluster, but specs that are
// tested in parallel request the same ports.
type nodePorts struct {
	mu    sync.Mutex
	given map[string]int64
}

// assign replaces a resource's requested node port. The same request in a namespace always gets the same port.
func (p *nodePorts) assign(resource *unstructured.Unstructured) error {
	asked, there, err := unstructured.NestedInt64(resource.Object, "spec", "nodePort")
	if err != nil || !there {
		return nil // the API server will reject an invalid value
	}
	port, err := p.of(resource.GetNamespace(), asked)
	if err != nil {
		return err
	}
	return unstructured.SetNestedField(resource.Object, port, "spec", "nodePort")
}

// of returns the port that a namespace uses instead of the requested one.
func (p *nodePorts) of(namespace string, asked int64) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.given == nil {
		p.given = map[string]int64{}
	}
	name := fmt.Sprintf("%s %d", namespace, asked)
	port, given := p.given[name]
	if !given {
		port = firstNodePort + int64(len(p.given))
		p.given[name] = port
	}
	if port > lastNodePort {
		return 0, fmt.Errorf("all node ports from %d to %d are assigned; none is left for %s: test fewer transitions", firstNodePort, lastNodePort, namespace)
	}
	return port, nil
}
