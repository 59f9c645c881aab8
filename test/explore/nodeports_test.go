package explore_test

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The API server keeps the beginning of its default range for who asks for a certain port, as long as
// there are others to choose from.
const (
	firstNodePort = 30000
	lastNodePort  = 30085
)

// ports are the suite's.
var ports nodePorts

// nodePorts give each namespace node ports of its own, because one is taken in the whole cluster, where
// specs, that are tried side by side, ask for the same.
type nodePorts struct {
	mu    sync.Mutex
	given map[string]int64
}

// assign replaces the node port that the spec asks for, if it does, always by the same.
func (p *nodePorts) assign(resource *unstructured.Unstructured) error {
	asked, there, err := unstructured.NestedInt64(resource.Object, "spec", "nodePort")
	if err != nil || !there {
		return nil // whether that is valid is for the API server to say
	}
	port, err := p.of(resource.GetNamespace(), asked)
	if err != nil {
		return err
	}
	return unstructured.SetNestedField(resource.Object, port, "spec", "nodePort")
}

// appliesTo is what a namespace gets that asks for a port.
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
