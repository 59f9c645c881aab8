package record

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestTemplateHashIsDeterministic(t *testing.T) {
	g := NewWithT(t)
	labels := map[string]string{"rollouts-pod-template-hash": "b", "pod-template-hash": "a", "app": "web", "other-pod-template-hash": "c"}
	for range 50 {
		g.Expect(TemplateHash(labels)).To(Equal("c"))
	}
	g.Expect(TemplateHash(map[string]string{"app": "web"})).To(BeEmpty())
}
