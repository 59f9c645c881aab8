package redact

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/record"
)

func secret(encoded string) record.ObjectVersion {
	return record.ObjectVersion{Unstructured: &unstructured.Unstructured{Object: map[string]any{
		"kind": "Secret", "metadata": map[string]any{"namespace": "run-7xk2p"}, "data": map[string]any{"value": encoded}}}}
}

func TestOnlyPossibleSecretsAreRedacted(t *testing.T) {
	public := PublicWords(
		map[string]any{"kind": "CustomResourceDefinition", "spec": map[string]any{"group": "rabbitmq.com", "description": "The default is amqp-over-tls."}},
		map[string]any{"kind": "Deployment", "spec": map[string]any{"args": []any{"--user=operator-user", "--password=swordfish"}, "env": []any{
			map[string]any{"name": "API_TOKEN", "value": "open-sesame"}, map[string]any{"name": "REGION", "value": "antarctica"}}}},
		map[string]any{"kind": "Web", "spec": map[string]any{"adminPassword": "letmeinplease", "auth": map[string]any{"secret": map[string]any{"key": "sesame-street"}}}},
		map[string]any{"kind": "Secret", "stringData": map[string]any{"password": "correcthorse"}, "data": map[string]any{"password": "Y29ycmVjdGhvcnNl"}},
		map[string]any{"kind": "SecretList", "items": []any{map[string]any{"data": map[string]any{"x": "batterystaple"}}}},
	)
	for value, isHidden := range map[string]bool{
		"rabbitmq": false, "default": false, "amqp-over-tls": false, "operator-user": false, "antarctica": false, // public words
		"true": false, "5672": false, "guest": false, "123": false, // short words and numbers
		"hunter2": true, "12345678": true, "qwertyui": true, "p@ss": true, "ab\"<c": true, // short, but neither a word nor a number
		"swordfish": true, "open-sesame": true, "letmeinplease": true, "sesame-street": true, "correcthorse": true, "batterystaple": true, // named like secrets
		"rabbitmq:rabbitmq": true, "default-user": true, "amqp-over-tls-": true, // composed of public words
	} {
		t.Run(value, func(t *testing.T) {
			g := NewWithT(t)
			encoded := base64.StdEncoding.EncodeToString([]byte(value))
			hide := New([]record.ObjectVersion{secret(encoded)}, public)
			g.Expect(strings.Contains(hide.Text("it is "+value+"."), Hidden)).To(Equal(isHidden))
			inJSON, err := json.Marshal(value)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(strings.Contains(hide.Text(string(inJSON)), Hidden)).To(Equal(isHidden))
			g.Expect(hide.Text("it is "+encoded+".")).To(Equal("it is "+Hidden+"."), "the encoded value is always redacted")
		})
	}
}

// A snapshot contains a placeholder instead of the run's namespace.
func TestSecretThatContainsNamespaceIsRedacted(t *testing.T) {
	for value, isHidden := range map[string]bool{"app:Xk29sdPq@db.run-7xk2p.svc": true, "run-7xk2p": false} {
		hide := New([]record.ObjectVersion{secret(base64.StdEncoding.EncodeToString([]byte(value)))}, nil)
		for _, text := range []string{"app:Xk29sdPq@db.run-7xk2p.svc", "app:Xk29sdPq@db.<namespace>.svc", `app:Xk29sdPq@db.\u003cnamespace\u003e.svc`} {
			want := text
			if isHidden {
				want = Hidden
			}
			NewWithT(t).Expect(hide.Text(text)).To(Equal(want), "the Secret's value is %s", value)
		}
	}
}
