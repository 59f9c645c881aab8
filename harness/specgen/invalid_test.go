package specgen

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestInvalidSpecs(t *testing.T) {
	for name, test := range map[string]struct {
		fields string
		want   map[string]string // the expected part of Why for each value of the field
	}{
		"an integer": {
			fields: `properties: {x: {type: integer, minimum: 1, maximum: 3}}`,
			want: map[string]string{
				`"? !"`: `must be of type integer: "string"`,
				`true`:  `must be of type integer: "boolean"`,
				`0.5`:   `should be greater than or equal to 1`,
				`[]`:    `must be of type integer: "array"`,
				`{}`:    `must be of type integer: "object"`,
				`0`:     `should be greater than or equal to 1`,
				`4`:     `should be less than or equal to 3`,
			},
		},
		"an exclusive bound": {
			fields: `properties: {x: {type: number, minimum: 0, exclusiveMinimum: true}}`,
			want:   map[string]string{`"? !"`: ``, `true`: ``, `[]`: ``, `{}`: ``, `-1`: `should be greater than 0`, `0`: `should be greater than 0`},
		},
		"a required string": {
			fields: `required: [x], properties: {x: {type: string, minLength: 2, maxLength: 3, pattern: '^[a-z]+$'}}`,
			want: map[string]string{
				`absent`: `spec.x: Required value`, `true`: ``, `0.5`: ``, `[]`: ``, `{}`: ``,
				`"a"`:    `should be at least 2 chars long`,
				`"aaaa"`: `may not be more than 3 bytes`,
				`"? !"`:  `should match '^[a-z]+$'`,
			},
		},
		"a list": {
			fields: `properties: {x: {type: array, minItems: 1, maxItems: 2, items: {type: boolean}}}`,
			want: map[string]string{
				`"? !"`: ``, `true`: ``, `0.5`: ``, `{}`: ``, `""`: ``, `"aa"`: ``, `"aaa"`: ``, `"a"`: ``,
				`[]`:               `should have at least 1 items`,
				`[true,true,true]`: `must have at most 2 items`,
				`["? !"]`:          `spec.x[0] in body must be of type boolean`,
				`[0.5]`:            ``, `[[]]`: ``, `[{}]`: ``,
			},
		},
		"an int32": {
			fields: `properties: {x: {type: integer, format: int32}}`,
			want:   map[string]string{`"? !"`: ``, `true`: ``, `0.5`: ``, `[]`: ``, `{}`: ``, `2147483648`: `int32`},
		},
		"a CEL rule": {
			fields: `properties: {x: {type: boolean, x-kubernetes-validations: [{rule: 'self == false', message: must be off}]}}`,
			want:   map[string]string{`"? !"`: ``, `0.5`: ``, `[]`: ``, `{}`: ``, `true`: `must be off`},
		},
		"unknown fields": {fields: `properties: {x: {x-kubernetes-preserve-unknown-fields: true}}`, want: map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			values := map[string]string{}
			for _, bad := range schemaWith(t, test.fields).Invalid(map[string]any{}) {
				x, exists := bad.Spec["x"]
				if !exists {
					x = absent
				}
				value := show(x)
				values[value] = test.want[value]
				g.Expect(bad.Why).To(ContainSubstring(test.want[value]), value)
			}
			g.Expect(values).To(Equal(test.want))
		})
	}
}
