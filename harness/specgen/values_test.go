package specgen

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/project"
)

// schemaWith returns a Schema whose spec has the given properties in YAML flow style.
func schemaWith(t *testing.T, fields string) *Schema {
	t.Helper()
	schema, err := newSchema(t, fields, nil)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func newSchema(t *testing.T, fields string, examples map[string][]any) (*Schema, error) {
	t.Helper()
	spec := apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte("{type: object, "+fields+"}"), &spec); err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "things.example.com"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
		OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type:       "object",
			Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
		},
	}}}
	return New(crd, "v1", examples)
}

func readCRD(t *testing.T, name string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crds, err := project.ReadCRDs("testdata/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return crds[0]
}

func choicesOf(s *Schema) map[string]string {
	found := map[string]string{}
	for _, f := range s.fields {
		var shown []string
		for _, choice := range f.choices {
			shown = append(shown, show(choice))
		}
		if len(shown) > 1 {
			found[f.path()] = strings.Join(shown, " ")
		}
	}
	return found
}

func TestChoices(t *testing.T) {
	for name, test := range map[string]struct {
		fields   string
		examples map[string][]any
		want     map[string]string
	}{
		"a number without maximum stays small": {
			fields: `properties: {x: {type: integer, format: int32, minimum: 0, default: 1}}`,
			want:   map[string]string{"spec.x": "absent 1 0 3"},
		},
		"required is never absent": {
			fields: `required: [x], properties: {x: {type: boolean}}`,
			want:   map[string]string{"spec.x": "true false"},
		},
		"required with a default may be absent": {
			fields: `required: [x], properties: {x: {type: boolean, default: true}}`,
			want:   map[string]string{"spec.x": "absent true false"},
		},
		"bounds and the middle": {
			fields: `properties: {x: {type: integer, minimum: 1, maximum: 65535}}`,
			want:   map[string]string{"spec.x": "absent 32768 1 65535"},
		},
		"exclusive bounds": {
			fields: `properties: {x: {type: integer, minimum: 0, exclusiveMinimum: true, maximum: 10, exclusiveMaximum: true}}`,
			want:   map[string]string{"spec.x": "absent 5 1 9"},
		},
		"only a maximum": {
			fields: `properties: {x: {type: integer, maximum: 8}}`,
			want:   map[string]string{"spec.x": "absent 1 8 7"},
		},
		"multiples": {
			fields: `properties: {x: {type: integer, multipleOf: 256, minimum: 256, maximum: 1000}}`,
			want:   map[string]string{"spec.x": "absent 512 256 768"},
		},
		"fraction": {
			fields: `properties: {x: {type: number, minimum: 0, maximum: 1}}`,
			want:   map[string]string{"spec.x": "absent 0.5 0 1"},
		},
		"very large bounds are ignored": {
			fields: `properties: {x: {type: integer, format: int64, minimum: 0, maximum: 9223372036854774784}}`,
			want:   map[string]string{"spec.x": "absent 1 0 3"},
		},
		"a nullable enum": {
			fields: `properties: {x: {type: string, nullable: true, enum: [a, b]}}`,
			want:   map[string]string{"spec.x": `absent "a" "b"`},
		},
		"string": {
			fields: `properties: {x: {type: string}}`,
			want:   map[string]string{"spec.x": `absent "example" "other" ""`},
		},
		"a string with length limits": {
			fields: `properties: {x: {type: string, minLength: 2, maxLength: 6}}`,
			want:   map[string]string{"spec.x": `absent "other" "aa" "aaaaaa"`},
		},
		"a string with a format": {
			fields: `properties: {x: {type: string, format: date-time}}`,
			want:   map[string]string{"spec.x": `absent "2026-01-02T03:04:05Z" "2027-03-04T05:06:07Z"`},
		},
		"an unknown format is ignored": {
			fields: `properties: {x: {type: string, format: telepathy}}`,
			want:   map[string]string{"spec.x": `absent "example" "other" ""`},
		},
		"usual names if they match the pattern": {
			fields: `properties: {x: {type: string, maxLength: 9, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'}}`,
			want:   map[string]string{"spec.x": `absent "example" "other" "aaaaaaaaa"`},
		},
		"examples": {
			fields:   `properties: {image: {type: string}, x: {type: array, items: {type: integer}}}`,
			examples: map[string][]any{"spec.image": {"nginx:1", "nginx:2"}, "spec.x": {[]int{1, 2}}},
			want:     map[string]string{"spec.image": `absent "nginx:1" "nginx:2"`, "spec.x": "absent [1,2]"},
		},
		"no examples skip the field": {
			fields:   `properties: {x: {type: object, properties: {z: {type: boolean}}}}`,
			examples: map[string][]any{"spec.x": nil},
			want:     map[string]string{},
		},
		"a list": {
			fields: `properties: {x: {type: array, items: {type: integer}}}`,
			want:   map[string]string{"spec.x": "absent [1] [] [1,0]", "spec.x[]": "1 0 3"},
		},
		"a list of fixed length": {
			fields: `properties: {x: {type: array, minItems: 2, maxItems: 2, items: {type: boolean}}}`,
			want:   map[string]string{"spec.x": "absent [true,false] [true,true]", "spec.x[]": "true false"},
		},
		"map list": {
			fields: `properties: {x: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {
				type: object, required: [name], properties: {name: {type: string, enum: [a, b]}, flag: {type: boolean}}}}}`,
			want: map[string]string{
				"spec.x":        `absent [{"name":"a"}] [] [{"name":"a"},{"name":"b"}]`,
				"spec.x[].name": `"a" "b"`,
				"spec.x[].flag": "absent true false",
			},
		},
		"a map": {
			fields: `properties: {x: {type: object, additionalProperties: {type: integer}}}`,
			want:   map[string]string{"spec.x": `absent {"example":1} {} {"example":1,"other":1}`, "spec.x[]": "1 0 3"},
		},
		"a nullable object": {
			fields: `properties: {x: {type: object, nullable: true, properties: {z: {type: boolean}}}}`,
			want:   map[string]string{"spec.x": "absent {} null", "spec.x.z": "absent true false"},
		},
		"int-or-string": {
			fields: `properties: {x: {x-kubernetes-int-or-string: true}}`,
			want:   map[string]string{"spec.x": `absent 1 "50%"`},
		},
		"quantity": {
			fields: `properties: {x: {x-kubernetes-int-or-string: true, pattern: '^[0-9]+([KMG]i)?$'}}`,
			want:   map[string]string{"spec.x": `absent 1 "1Gi"`},
		},
		"unknown fields": {
			fields: `properties: {x: {type: object, x-kubernetes-preserve-unknown-fields: true}}`,
			want:   map[string]string{"spec.x": `absent {} {"example":"value"}`},
		},
		"a union": {
			fields: `oneOf: [{required: [a]}, {required: [b]}], properties: {a: {type: boolean}, b: {type: object, properties: {c: {type: boolean}}}}`,
			want: map[string]string{
				"spec":     `{"a":true} {"b":{}}`,
				"spec.a":   "true false",
				"spec.b.c": "absent true false",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			schema, err := newSchema(t, test.fields, test.examples)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(choicesOf(schema)).To(Equal(test.want))
		})
	}
}

func TestPatternStringsAreDeterministic(t *testing.T) {
	g := NewWithT(t)
	const fields = `required: [x], properties: {x: {type: string, maxLength: 40, pattern: '^s3://[a-z0-9]{3,20}/[a-z]+$'}}`
	values := schemaWith(t, fields).fields[1].choices
	g.Expect(values).To(HaveLen(2))
	g.Expect(values).To(HaveEach(MatchRegexp(`^s3://[a-z0-9]{3,20}/[a-z]+$`)))

	g.Expect(schemaWith(t, fields).fields[1].choices).To(Equal(values))
}
