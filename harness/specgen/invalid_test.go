package specgen

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestInvalidSpecs(t *testing.T) {
	for name, test := range map[string]struct {
		fields string
		want   map[string]string // part of Why by value of the field
	}{
		"numbers out of bounds": {
			fields: `properties: {x: {type: integer, format: int32, minimum: 1, maximum: 3}}`,
			want: map[string]string{
				`"text"`:     `spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"`,
				`0.5`:        `greater than or equal to 1`,
				`0`:          `spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1`,
				`4`:          `spec.x: Invalid value: 4: spec.x in body should be less than or equal to 3`,
				`2147483648`: `format int32`,
			},
		},
		"numbers without bounds": {
			fields: `properties: {x: {type: integer, format: int32}}`,
			want: map[string]string{
				`"text"`:     `must be of type integer`,
				`0.5`:        `must be of type int32: "float64"`,
				`2147483648`: `<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.x`,
			},
		},
		"exclusive bounds and multiples": {
			fields: `properties: {x: {type: number, minimum: 0, exclusiveMinimum: true, multipleOf: 0.5}}`,
			want: map[string]string{
				`"text"`: `must be of type number`,
				`-1`:     `should be greater than 0`,
				`0`:      `should be greater than 0`,
				`0.25`:   `should be a multiple of 0.5`,
			},
		},
		"strings": {
			fields: `required: [x], properties: {x: {type: string, minLength: 2, maxLength: 3, pattern: '^[a-z]+$'}}`,
			want: map[string]string{
				`absent`: `spec.x: Required value`,
				`1`:      `must be of type string`,
				`"a"`:    `should be at least 2 chars long`,
				`"aaaa"`: `may not be more than 3 bytes`,
				`"? !"`:  `should match '^[a-z]+$'`,
			},
		},
		"format": {
			fields: `properties: {x: {type: string, format: ipv4}}`,
			want:   map[string]string{`1`: `must be of type ipv4: "int64"`, `"? !"`: `must be of type ipv4: "? !"`},
		},
		"an enum": {
			fields: `properties: {x: {type: string, enum: [a, b]}}`,
			want:   map[string]string{`1`: `must be of type string`, `"none-of-these"`: `supported values: "a", "b"`},
		},
		"boolean": {
			fields: `properties: {x: {type: boolean}}`,
			want:   map[string]string{`"true"`: `must be of type boolean`},
		},
		"a set": {
			fields: `properties: {x: {type: array, minItems: 1, maxItems: 2, x-kubernetes-list-type: set, items: {type: boolean}}}`,
			want: map[string]string{
				`"text"`:           `must be of type array`,
				`[]`:               `should have at least 1 items`,
				`[true,true]`:      `spec.x[1]: Duplicate value: true`,
				`[true,true,true]`: `must have at most 2 items`,
				`["true"]`:         `spec.x[0] in body must be of type boolean`,
			},
		},
		"a map": {
			fields: `properties: {x: {type: object, minProperties: 1, maxProperties: 1, additionalProperties: {type: boolean}}}`,
			want: map[string]string{
				`"text"`:                    `must be of type object`,
				`{}`:                        `should have at least 1 properties`,
				`{"key0":true,"key1":true}`: `must have at most 1 item`,
				`{"example":"true"}`:        `spec.x.example in body must be of type boolean`,
			},
		},
		"int-or-string": {
			fields: `properties: {x: {x-kubernetes-int-or-string: true}}`,
			want:   map[string]string{`true`: `must be of type integer,string: "boolean"`},
		},
		"embedded object": {
			fields: `properties: {x: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}`,
			want:   map[string]string{`"text"`: `must be of type object`, `{}`: `[spec.x.apiVersion: Required value, spec.x.kind: Required value]`},
		},
		"unknown fields": {
			fields: `properties: {x: {x-kubernetes-preserve-unknown-fields: true}}`,
			want:   map[string]string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			schema, err := schemaWith(t, test.fields)
			g.Expect(err).NotTo(HaveOccurred())
			values := map[string]string{}
			for _, bad := range schema.Invalid() {
				x, exists := bad.Spec["x"]
				if !exists {
					x = absent
				}
				value := show(x)
				values[value] = test.want[value]
				g.Expect(bad.Why).To(ContainSubstring(test.want[value]), value)
				g.Expect(strings.TrimSuffix(bad.Field, elements)).To(Equal("spec.x"))
			}
			g.Expect(values).To(Equal(test.want))
		})
	}
}
