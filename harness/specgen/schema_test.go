package specgen

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestNewErrors(t *testing.T) {
	for name, test := range map[string]struct {
		fields  string
		options []Option
		want    string
	}{
		"examples of an unknown field": {
			fields:  `properties: {image: {type: string}, port: {type: integer}}`,
			options: []Option{WithExamples("spec.imgae", "a")},
			want:    "cannot use the examples of spec.imgae: no such field; known fields: spec.image, spec.port",
		},
		"an invalid example": {
			fields:  `properties: {image: {type: string, maxLength: 3}}`,
			options: []Option{WithExamples("spec.image", "nginx")},
			want:    "invalid example nginx of spec.image: spec.image: Too long: may not be more than 3 bytes",
		},
		"no valid value": {
			fields: `properties: {x: {type: string, minLength: 50, pattern: '^[a-c]+d$'}}`,
			want:   `cannot generate a valid value of spec.x: use specgen.WithExamples("spec.x", ...) to provide values, or provide none to skip the field`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := schemaWith(t, test.fields, test.options...)
			NewWithT(t).Expect(err).To(MatchError(HaveSuffix(test.want)))
		})
	}
}

func TestUnknownVersion(t *testing.T) {
	_, err := New(readCRD(t, "queue"), "v1")
	NewWithT(t).Expect(err).To(MatchError("CustomResourceDefinition queues.shapes.example.com: no version v1, only v1beta1"))
}

func TestUnionWithSeveralFieldsEach(t *testing.T) {
	g := NewWithT(t)
	schema, err := schemaWith(t, `properties: {source: {type: object, properties: {url: {type: string}, branch: {type: string}, bucket: {type: string}, key: {type: string}},
		oneOf: [{required: [url, branch]}, {required: [bucket, key]}]}}`)
	g.Expect(err).NotTo(HaveOccurred())
	var parts []any
	for _, f := range schema.fields {
		if f.path() == "spec.source" {
			parts = f.values
		}
	}
	g.Expect(parts).To(ConsistOf(And(HaveLen(2), HaveKey("url"), HaveKey("branch")), And(HaveLen(2), HaveKey("bucket"), HaveKey("key"))))
}

func TestSkipUnknownSkipsNestedFields(t *testing.T) {
	g := NewWithT(t)
	schema, err := schemaWith(t, `properties: {size: {type: integer}, x: {type: object, required: [y], properties: {y: {type: string, minLength: 50, pattern: '^[a-c]+d$'}, z: {type: boolean}}}}`, SkipUnknown())
	g.Expect(err).NotTo(HaveOccurred())
	for _, transition := range schema.Transitions(1, 20) {
		g.Expect(transition.To).NotTo(HaveKey("x"))
	}
	for _, bad := range schema.Invalid() {
		g.Expect(bad.Field).NotTo(HavePrefix("spec.x."))
	}
}
