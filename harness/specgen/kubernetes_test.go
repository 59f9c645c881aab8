package specgen

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestVariationsUseKubernetesValues varies fields whose valid values are not part of the CRD's schema.
func TestVariationsUseKubernetesValues(t *testing.T) {
	const text = "{type: string}"
	for name, test := range map[string]struct{ properties, spec, want string }{
		"field of a container":      {`imagePullPolicy: ` + text, `{imagePullPolicy: Always}`, `spec.imagePullPolicy: "Always" → "IfNotPresent"`},
		"unset field":               {`imagePullPolicy: ` + text, `{}`, `spec.imagePullPolicy: absent → "IfNotPresent"`},
		"shorter name":              {`image: {type: object, properties: {pullPolicy: ` + text + `}}`, `{}`, `spec.image: absent → {"pullPolicy":"IfNotPresent"}`},
		"name with a prefix":        {`serviceType: ` + text, `{serviceType: ClusterIP}`, `spec.serviceType: "ClusterIP" → "NodePort"`},
		"type of a named object":    {`service: {type: object, properties: {type: ` + text + `, port: {type: integer}}}`, `{service: {type: ClusterIP}}`, `spec.service.type: "ClusterIP" → "NodePort"`},
		"type of another object":    {`storage: {type: object, properties: {type: ` + text + `}}`, `{storage: {type: fast}}`, `spec.storage.type: "fast" → "fast-2"`},
		"element of a list":         {`accessModes: {type: array, items: ` + text + `}`, `{accessModes: [ReadWriteOnce]}`, `spec.accessModes: ["ReadWriteOnce"] → ["ReadWriteMany"]`},
		"field inside a list":       {`tolerations: {type: array, items: {type: object, properties: {key: ` + text + `, operator: ` + text + `, effect: ` + text + `}}}`, `{tolerations: [{effect: NoSchedule}]}`, `spec.tolerations: [{"effect":"NoSchedule"}] → [{"effect":"PreferNoSchedule"}]`},
		"operator of a selector":    {`matchExpressions: {type: array, items: {type: object, properties: {key: ` + text + `, operator: ` + text + `, values: {type: array, items: ` + text + `}}}}`, `{matchExpressions: [{key: a, operator: Exists}]}`, `spec.matchExpressions: [{"key":"a","operator":"Exists"}] → [{"key":"a","operator":"DoesNotExist"}]`},
		"operator of a toleration":  {`tolerations: {type: array, items: {type: object, properties: {key: ` + text + `, operator: ` + text + `, effect: ` + text + `}}}`, `{tolerations: [{operator: Exists}]}`, `spec.tolerations: [{"operator":"Exists"}] → [{"operator":"Equal"}]`},
		"strategy of a Deployment":  {`strategy: {type: object, properties: {type: ` + text + `}}`, `{strategy: {type: RollingUpdate}}`, `spec.strategy.type: "RollingUpdate" → "Recreate"`},
		"strategy of a StatefulSet": {`updateStrategy: {type: object, properties: {type: ` + text + `, rollingUpdate: {type: object, properties: {partition: {type: integer}}}}}`, `{updateStrategy: {type: RollingUpdate}}`, `spec.updateStrategy.type: "RollingUpdate" → "OnDelete"`},
		"resource name":             {`limits: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}`, `{}`, `spec.limits: absent → {"cpu":1}`},
		"node port":                 {`nodePort: {type: integer}`, `{nodePort: 30123}`, `spec.nodePort: 30123 → 31234`},
		"enum of the CRD":           {`restartPolicy: {type: string, enum: [Sometimes, Often]}`, `{restartPolicy: Often}`, `spec.restartPolicy: "Often" → "Sometimes"`},
		"pattern of the CRD":        {`schedule: {type: string, pattern: "^(hourly|daily)$"}`, `{schedule: daily}`, `spec.schedule: "daily" → "hourly"`},
		"schedule":                  {`when: ` + text, `{when: "0 0 * * *"}`, `spec.when: "0 0 * * *" → "30 4 * * *"`},
		"percentage":                {`share: ` + text, `{share: 10%}`, `spec.share: "10%" → "50%"`},
		"IP address":                {`address: ` + text, `{address: 10.0.0.1}`, `spec.address: "10.0.0.1" → "10.0.0.2"`},
		"range of IP addresses":     {`range: ` + text, `{range: 10.0.0.0/24}`, `spec.range: "10.0.0.0/24" → "10.0.0.0/23"`},
	} {
		t.Run(name, func(t *testing.T) {
			spec := map[string]any{}
			if err := yaml.Unmarshal([]byte(test.spec), &spec); err != nil {
				t.Fatal(err)
			}
			decoded, err := asJSON(spec)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, variation := range schemaWith(t, "properties: {"+test.properties+"}").Variations(decoded.(map[string]any)) {
				got = append(got, variation.String())
			}
			if !slices.Contains(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), test.want)
			}
		})
	}
}
