package specgen

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/project"
)

// schemaWith returns the Schema of a spec. fields is its JSON schema without the type, in YAML flow style.
func schemaWith(t *testing.T, fields string) *Schema {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	spec := apiextensionsv1.JSONSchemaProps{}
	NewWithT(t).Expect(yaml.UnmarshalStrict([]byte("{type: object, "+fields+"}"), &spec)).To(Succeed())
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
		OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}},
	}}}
	schema, err := New(crd, "v1")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return schema
}

func load(t *testing.T, name string) *Schema {
	t.Helper()
	crds, err := project.ReadCRDs("testdata/" + name + ".yaml")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	schema, err := New(crds[0], crds[0].Spec.Versions[0].Name)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return schema
}

// parse parses a spec in YAML flow style into the value types that unstructured objects use.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(text))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	spec := map[string]any{}
	NewWithT(t).Expect(utiljson.Unmarshal(encoded, &spec)).To(Succeed())
	return spec
}

func TestUnknownVersionIsAnError(t *testing.T) {
	crds, err := project.ReadCRDs("testdata/queue.yaml")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	_, err = New(crds[0], "v1")
	NewWithT(t).Expect(err).To(MatchError("CustomResourceDefinition queues.shapes.example.com: no version v1, only v1beta1"))
}

func TestValues(t *testing.T) {
	for name, test := range map[string]struct {
		fields string
		want   map[string]string
	}{
		"a number without maximum stays small": {`properties: {x: {type: integer, minimum: 0}}`, map[string]string{"spec.x": "1 0 3"}},
		"middle and bounds":                    {`properties: {x: {type: integer, minimum: 1, maximum: 65535}}`, map[string]string{"spec.x": "32768 1 65535 65534"}},
		"exclusive bounds":                     {`properties: {x: {type: integer, minimum: 0, exclusiveMinimum: true, maximum: 10, exclusiveMaximum: true}}`, map[string]string{"spec.x": "5 9"}},
		"multiples":                            {`properties: {x: {type: integer, multipleOf: 256, minimum: 256, maximum: 1000}}`, map[string]string{"spec.x": "512 256 768 512"}},
		"fraction":                             {`properties: {x: {type: number, minimum: 0, maximum: 1}}`, map[string]string{"spec.x": "0.5 0 1 0"}},
		"large maximums are ignored":           {`properties: {x: {type: integer, format: int64, maximum: 9223372036854774784}}`, map[string]string{"spec.x": "1 0 3"}},
		"enum":                                 {`properties: {x: {type: string, enum: [a, b]}}`, map[string]string{"spec.x": `"a" "b"`}},
		"a string with length limits":          {`properties: {x: {type: string, minLength: 3, maxLength: 6}}`, map[string]string{"spec.x": `"other" "aaa"`}},
		"a string with a format":               {`properties: {x: {type: string, format: date-time}}`, map[string]string{"spec.x": `"2026-01-02T03:04:05Z" "2027-03-04T05:06:07Z"`}},
		"an unknown format is ignored":         {`properties: {x: {type: string, format: telepathy}}`, map[string]string{"spec.x": `"example" "other" "a" ""`}},
		"a list":                               {`properties: {x: {type: array, items: {type: boolean}}}`, map[string]string{"spec.x": "[true] [true] [] [true,false]", "spec.x[]": "true false"}},
		"a list of fixed length":               {`properties: {x: {type: array, minItems: 3, maxItems: 3, items: {type: boolean}}}`, map[string]string{"spec.x": "[true,true,true]", "spec.x[]": "true false"}},
		"set":                                  {`properties: {x: {type: array, x-kubernetes-list-type: set, minItems: 2, items: {type: boolean}}}`, map[string]string{"spec.x": "[true,false] [true,false]", "spec.x[]": "true false"}},
		"a map":                                {`properties: {x: {type: object, additionalProperties: {type: boolean}}}`, map[string]string{"spec.x": `{"example":true} {}`, "spec.x[]": "true false"}},
		"int-or-string":                        {`properties: {x: {x-kubernetes-int-or-string: true, pattern: '^[0-9]+([KMG]i)?$'}}`, map[string]string{"spec.x": `1 "1Gi" "1"`}},
		"a union":                              {`oneOf: [{required: [a, b]}, {required: [c]}], properties: {a: {type: object}, b: {type: object}, c: {type: object}}`, map[string]string{"spec": `{"a":{},"b":{}} {"c":{}} {"c":{}}`}},
		"no valid value":                       {`properties: {x: {type: object, required: [y], properties: {y: {type: string, minLength: 9, pattern: '^[b-c]$'}}}}`, map[string]string{"spec.x": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			schema, got := schemaWith(t, test.fields), map[string]string{}
			for _, f := range schema.fields {
				var shown []string
				for _, value := range f.values {
					shown = append(shown, show(value))
				}
				if _, wanted := test.want[f.path()]; wanted {
					got[f.path()] = strings.Join(shown, " ")
				}
			}
			NewWithT(t).Expect(got).To(Equal(test.want))
		})
	}
}

func TestPatternStringsAreDeterministic(t *testing.T) {
	g := NewWithT(t)
	const pattern = "^s3://[a-z0-9]{3,20}/[a-z]+$"
	found := matchingTexts(pattern)
	g.Expect(found).NotTo(BeEmpty())
	g.Expect(found).To(HaveEach(MatchRegexp(pattern)))
	g.Expect(matchingTexts(pattern)).To(Equal(found))
	g.Expect(matchingTexts(`^(?!x)$`)).To(BeEmpty(), "Go cannot parse this pattern")
}
