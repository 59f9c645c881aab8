package specgen

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestWhatASchemaIsRefusedFor(t *testing.T) {
	for name, test := range map[string]struct {
		fields  string
		options []Option
		want    string
	}{
		"examples of no field": {
			fields:  `properties: {image: {type: string}, port: {type: integer}}`,
			options: []Option{WithExamples("spec.imgae", "a")},
			want:    "there is no field spec.imgae to give examples of; there is spec.image, spec.port",
		},
		"examples that are not valid": {
			fields:  `properties: {image: {type: string, maxLength: 3}}`,
			options: []Option{WithExamples("spec.image", "nginx")},
			want:    "the example nginx of spec.image is not valid: spec.image: Too long: may not be more than 3 bytes",
		},
		"a bound of no field": {
			fields:  `properties: {x: {type: object, properties: {size: {type: integer}}}}`,
			options: []Option{WithMaximum("spec.x.sise", 3)},
			want:    "there is no field spec.x.sise to bound; there is spec.x.size",
		},
		"a bound of no number": {
			fields:  `properties: {x: {type: string}}`,
			options: []Option{WithMaximum("spec.x", 3)},
			want:    `spec.x cannot be at most 3: it is no number, but of type "string"`,
		},
		"a value that nobody can guess": {
			fields: `properties: {x: {type: string, minLength: 50, pattern: '^[a-c]+d$'}}`,
			want:   `no valid value of spec.x is known: name some with specs.Examples("spec.x", …), or none to leave it alone`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := schemaWith(t, test.fields, test.options...)
			NewWithT(t).Expect(err).To(MatchError(HaveSuffix(test.want)))
		})
	}
}

func TestFiles(t *testing.T) {
	for name, test := range map[string]struct{ path, version, want string }{
		"no file":          {"testdata/none.yaml", "v1", "open testdata/none.yaml: no such file or directory"},
		"no such version":  {"testdata/queue.yaml", "v1", "CustomResourceDefinition queues.shapes.example.com: it has no version v1, only v1beta1"},
		"no definition":    {"schema.go", "v1", "schema.go: error converting YAML to JSON"},
		"a bad definition": {"testdata/bad.txt", "v1", "testdata/bad.txt: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal object into Go struct field CustomResourceDefinitionSpec.spec.versions"},
		"none in the file": {"testdata/none.txt", "v1", "testdata/none.txt: it holds 0 CustomResourceDefinitions, not one: give each a file, or call specs.New"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := FromFile(test.path, test.version)
			NewWithT(t).Expect(err).To(MatchError(HavePrefix(test.want)))
		})
	}
}

func TestAUnionOfWhichEachPartHasSeveralFields(t *testing.T) {
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

func TestWhatIsInAFieldOfNoKnownValueIsLeftAlone(t *testing.T) {
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
