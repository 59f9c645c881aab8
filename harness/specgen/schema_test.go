package specgen

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestNewErrors(t *testing.T) {
	for field, test := range map[string]struct {
		example string
		want    string
	}{
		"spec.imgae": {"a", "cannot use the examples of spec.imgae: no such field"},
		"spec.image": {"nginx", "invalid example nginx of spec.image: spec.image: Too long: may not be more than 3 bytes"},
	} {
		_, err := newSchema(t, `properties: {image: {type: string, maxLength: 3}}`, map[string][]any{field: {test.example}})
		NewWithT(t).Expect(err).To(MatchError(HaveSuffix(test.want)))
	}
	_, err := New(readCRD(t, "queue"), "v1", nil)
	NewWithT(t).Expect(err).To(MatchError("CustomResourceDefinition queues.shapes.example.com: no version v1, only v1beta1"))
}

func TestUnionWithSeveralFieldsEach(t *testing.T) {
	g := NewWithT(t)
	schema := schemaWith(t, `properties: {source: {type: object, properties: {url: {type: string}, branch: {type: string}, bucket: {type: string}, key: {type: string}},
		oneOf: [{required: [url, branch]}, {required: [bucket, key]}]}}`)
	var parts []any
	for _, f := range schema.fields {
		if f.path() == "spec.source" {
			parts = f.values
		}
	}
	g.Expect(parts).To(ConsistOf(And(HaveLen(2), HaveKey("url"), HaveKey("branch")), And(HaveLen(2), HaveKey("bucket"), HaveKey("key"))))
}

func TestFieldsWithoutValuesAreSkipped(t *testing.T) {
	g := NewWithT(t)
	schema := schemaWith(t, `properties: {size: {type: integer}, x: {type: object, required: [y], properties: {y: {type: string, minLength: 50, pattern: '^[a-c]+d$'}, z: {type: boolean}}}}`)
	for _, transition := range schema.Transitions(1, 20) {
		g.Expect(transition.To).NotTo(HaveKey("x"))
	}
	for _, bad := range schema.Invalid() {
		g.Expect(bad.Field).NotTo(HavePrefix("spec.x."))
	}
}
