package faults_test

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The API server reserves the beginning of its default range for Services that ask for a certain port, as long as
// other ports are free.
const (
	firstNodePort = 30000
	lastNodePort  = 30085
)

// ports are the suite's.
var ports nodePorts

// nodePorts gives each namespace node ports of its own: a port can be taken once in the whole cluster, and specs that
// are tested in parallel ask for the same ones.
type nodePorts struct {
	mu    sync.Mutex
	given map[string]int64
}

// assign replaces the node port that a spec asks for, always by the same one.
func (p *nodePorts) assign(resource *unstructured.Unstructured) error {
	asked, there, err := unstructured.NestedInt64(resource.Object, "spec", "nodePort")
	if err != nil || !there {
		return nil // the API server will reject it
	}
	port, err := p.of(resource.GetNamespace(), asked)
	if err != nil {
		return err
	}
	return unstructured.SetNestedField(resource.Object, port, "spec", "nodePort")
}

// of returns the port that a namespace gets when it asks for one.
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
		return 0, fmt.Errorf("no node port of %d to %d is left for %s: play fewer transitions", firstNodePort, lastNodePort, namespace)
	}
	return port, nil
}
