package specgen

import (
	"slices"
	"strings"
	"testing"
)

func TestTransitions(t *testing.T) {
	const text = "{type: string}"
	for name, test := range map[string]struct{ properties, spec, want string }{
		"unset field":              {`imagePullPolicy: ` + text, `{}`, `spec.imagePullPolicy: absent → "IfNotPresent"`},
		"name with a prefix":       {`serviceType: ` + text, `{serviceType: ClusterIP}`, `spec.serviceType: "ClusterIP" → "NodePort"`},
		"type of a named object":   {`service: {type: object, properties: {type: ` + text + `, port: {type: integer}}}`, `{service: {type: ClusterIP}}`, `spec.service.type: "ClusterIP" → "NodePort"`},
		"type of another object":   {`storage: {type: object, properties: {type: ` + text + `}}`, `{storage: {type: fast}}`, `spec.storage.type: "fast" → "fast-2"`},
		"element of a list":        {`accessModes: {type: array, items: ` + text + `}`, `{accessModes: [ReadWriteOnce]}`, `spec.accessModes[]: "ReadWriteOnce" → "ReadWriteMany"`},
		"field inside a list":      {`tolerations: {type: array, items: {type: object, properties: {key: ` + text + `, operator: ` + text + `, effect: ` + text + `}}}`, `{tolerations: [{effect: NoSchedule}]}`, `spec.tolerations[].effect: "NoSchedule" → "PreferNoSchedule"`},
		"resource name":            {`limits: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}`, `{}`, `spec.limits[]: absent → "100m"`},
		"size that is a number":    {`size: {type: integer}`, `{}`, `spec.size: absent → 1`},
		"size that is a name":      {`size: ` + text, `{size: small}`, `spec.size: "small" → "small-2"`},
		"unset path":               {`ingress: {type: object, properties: {path: ` + text + `}}`, `{}`, `spec.ingress.path: absent → "/example"`},
		"path inside a volume":     {`items: {type: array, items: {type: object, properties: {path: ` + text + `}}}`, `{}`, `spec.items[].path: absent → "example"`},
		"node port":                {`nodePort: {type: integer}`, `{}`, `spec.nodePort: absent → 31234`},
		"enum of the CRD":          {`restartPolicy: {type: string, enum: [Sometimes, Often]}`, `{restartPolicy: Often}`, `spec.restartPolicy: "Often" → "Sometimes"`},
		"pattern of the CRD":       {`schedule: {type: string, pattern: "^(hourly|daily)$"}`, `{schedule: daily}`, `spec.schedule: "daily" → "hourly"`},
		"schedule":                 {`when: ` + text, `{when: "0 0 * * *"}`, `spec.when: "0 0 * * *" → "30 4 * * *"`},
		"CPU quantity":             {`cpu: ` + text, `{cpu: 100m}`, `spec.cpu: "100m" → "200m"`},
		"duration":                 {`timeout: ` + text, `{timeout: 20s}`, `spec.timeout: "20s" → "40s"`},
		"percentage":               {`share: ` + text, `{share: 10%}`, `spec.share: "10%" → "50%"`},
		"IP address":               {`address: ` + text, `{address: 10.0.0.1}`, `spec.address: "10.0.0.1" → "10.0.0.2"`},
		"number at its minimum":    {`size: {type: integer, minimum: 1}`, `{size: 1}`, `spec.size: 1 → 2`},
		"only the default is left": {`size: {type: integer, minimum: 1, maximum: 2, default: 1}`, `{}`, `spec.size: absent → 2`},
		"image":                    {`baseImage: ` + text, `{}`, `spec.baseImage: absent → "example:v1"`},
		"null object":              {`image: {type: object, nullable: true, properties: {tag: ` + text + `}}`, `{image: null}`, `spec.image.tag: absent → "example"`},
		"range of IP addresses":    {`range: ` + text, `{range: 10.0.0.0/24}`, `spec.range: "10.0.0.0/24" → "10.0.0.0/23"`},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for transition := range schemaWith(t, "properties: {"+test.properties+"}").Transitions(parse(t, test.spec), 1) {
				got = append(got, transition.String())
			}
			if !slices.Contains(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), test.want)
			}
		})
	}
}

// TestKnownFieldsThatAreSet checks that a field's new values have the same format as its current value, even if the
// field has a known name. For example, a size of 3 is a number of replicas and not a quantity.
func TestKnownFieldsThatAreSet(t *testing.T) {
	const intOrString = "{x-kubernetes-int-or-string: true}"
	const limits = "limits: {type: object, additionalProperties: " + intOrString + "}"
	for _, test := range []struct {
		properties, spec, field string
		want                    []string
	}{
		{limits, "{limits: {nvidia.com/gpu: 1}}", "spec.limits[]", []string{"1 → 2", "1 → 0"}},
		{limits, "{limits: {memory: 128Mi}}", "spec.limits[]", []string{`"128Mi" → "256Mi"`}},
		{limits, "{limits: {cpu: 100m}}", "spec.limits[]", []string{`"100m" → "200m"`}},
		{"size: " + intOrString, "{size: 3}", "spec.size", []string{"3 → 2", "3 → 4"}},
		{"timeout: " + intOrString, "{timeout: 30}", "spec.timeout", []string{"30 → 29", "30 → 31"}},
		{"timeout: {type: string}", "{timeout: 10s}", "spec.timeout", []string{`"10s" → "1m0s"`, `"10s" → absent`}},
		{"nodePort: {type: integer}", "{nodePort: 30123}", "spec.nodePort", []string{"30123 → 30122", "30123 → 30124"}},
	} {
		t.Run(test.spec, func(t *testing.T) {
			var got []string
			for transition := range schemaWith(t, "properties: {"+test.properties+"}").Transitions(parse(t, test.spec), 2) {
				if change, found := strings.CutPrefix(transition.String(), test.field+": "); found {
					got = append(got, change)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestSetFieldsAreChangedFirst(t *testing.T) {
	spec := parse(t, "{engine: kafka, size: 1}")
	var got []string
	for transition := range load(t, "queue").Transitions(spec, 2) {
		got = append(got, transition.String())
	}
	want := []string{`spec.engine: "kafka" → "rabbit"`, "spec.size: 1 → 2", "spec.size: 1 → 0"}
	if !slices.Equal(got, want) { // a CEL rule forbids this size for the engine none
		t.Errorf("got %q, want %q", got, want)
	}
	if keyOf(spec) != `{"engine":"kafka","size":1}` {
		t.Errorf("got a modified spec %v, want it unchanged", spec)
	}
}

func TestTransitionsEndInDifferentSpecs(t *testing.T) {
	spec := parse(t, "{instances: 3, storage: {size: 1Gi}, bootstrap: {initdb: {}}, ports: [{name: a, port: 1}, {name: b, port: 2}]}")
	transitions := slices.Collect(load(t, "cluster").Transitions(spec, 3))
	fields := map[string]string{}
	for _, transition := range transitions {
		if other := fields[keyOf(transition.To)]; other != "" {
			t.Errorf("got the same spec from a change of %s and of %s: %v", other, transition.Field, transition.To)
		}
		fields[keyOf(transition.To)] = transition.Field
	}
	if len(transitions) < 20 {
		t.Errorf("got %d transitions, want at least 20", len(transitions))
	}
}

func TestLongValuesAreShortened(t *testing.T) {
	transition := Transition{Field: "spec.x", from: absent, to: strings.Repeat("a", 100)}
	if got, want := transition.String(), `spec.x: absent → "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… (102 characters)`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
