package diff_test

import (
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/diff"
)

func TestFields(t *testing.T) {
	for name, test := range map[string]struct {
		comparison diff.Comparison
		from, to   string
		want       []diff.Field
	}{
		"equal":                {from: `{a: 1, b: [1, {c: 2}]}`, to: `{b: [1, {c: 2}], a: 1}`},
		"fields of both":       {from: `{a: 1, b: 2}`, to: `{b: 3, c: 4}`, want: []diff.Field{{"a", 1.0, diff.Absent}, {"b", 2.0, 3.0}, {"c", diff.Absent, 4.0}}},
		"null is a value":      {from: `{a: null}`, to: `{}`, want: []diff.Field{{"a", nil, diff.Absent}}},
		"elements":             {from: `{a: [{b: 1}, 2]}`, to: `{a: [{b: 3}, 2]}`, want: []diff.Field{{"a[0].b", 1.0, 3.0}}},
		"lists of two lengths": {from: `{a: [1]}`, to: `{a: [1, 2]}`, want: []diff.Field{{"a", []any{1.0}, []any{1.0, 2.0}}}},
		"a map and a scalar":   {from: `{a: {b: 1}}`, to: `{a: 1}`, want: []diff.Field{{"a", map[string]any{"b": 1.0}, 1.0}}},

		"a subset":             {diff.Comparison{Subset: true}, `{a: 1}`, `{a: 1, b: 2}`, nil},
		"null in a subset":     {diff.Comparison{Subset: true}, `{a: null}`, `{}`, nil},
		"a subset of nothing":  {diff.Comparison{Subset: true}, `{a: {b: 1, c: {d: 2}}}`, `{}`, []diff.Field{{"a.b", 1.0, diff.Absent}, {"a.c.d", 2.0, diff.Absent}}},
		"an empty map missing": {diff.Comparison{Subset: true}, `{a: {}}`, `{}`, []diff.Field{{"a", map[string]any{}, diff.Absent}}},
		"a subset in a list":   {diff.Comparison{Subset: true}, `{a: [{b: 1}]}`, `{a: [{b: 1, c: 2}]}`, nil},
		"a longer list":        {diff.Comparison{Subset: true}, `{a: [1]}`, `{a: [1, 2]}`, []diff.Field{{"a", []any{1.0}, []any{1.0, 2.0}}}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(test.comparison.Fields("", parse(t, test.from), parse(t, test.to))).To(Equal(test.want))
		})
	}
}

func parse(t *testing.T, text string) (value any) {
	t.Helper()
	NewWithT(t).Expect(yaml.Unmarshal([]byte(text), &value)).To(Succeed())
	return value
}
