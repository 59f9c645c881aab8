package project

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const withWebhooks = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: my-system}
spec:
  template:
    metadata: {labels: {app: manager}}
    spec:
      containers:
      - name: manager
        image: mine
        ports: [{name: hooks, containerPort: 9876}]
---
{apiVersion: v1, kind: Service, metadata: {name: named, namespace: my-system}, spec: {selector: {app: manager}, ports: [{port: 443, targetPort: hooks}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: numbered, namespace: my-system}, spec: {selector: {app: manager}, ports: [{port: 8443, targetPort: 9443}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: equal, namespace: my-system}, spec: {selector: {app: manager}, ports: [{port: 443}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: other, namespace: my-system}, spec: {selector: {app: other}, ports: [{port: 443}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: lost, namespace: my-system}, spec: {selector: {app: manager}, ports: [{port: 443, targetPort: none}]}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: sets}
webhooks:
- {name: named, clientConfig: {caBundle: Y2E=, service: {name: named, namespace: my-system, path: /mutate}},
   namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: my-system}}}
- {name: numbered, namespaceSelector: {matchExpressions: [{key: team, operator: NotIn, values: [a]}]},
   clientConfig: {service: {name: numbered, namespace: my-system, port: 8443}}}
- {name: elsewhere, clientConfig: {url: "https://example.com"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- {name: equal, clientConfig: {service: {name: equal, namespace: my-system, path: /validate}}}
- {name: missing, clientConfig: {service: {name: missing, namespace: my-system}}}
- {name: not-the-port, clientConfig: {service: {name: numbered, namespace: my-system}}}
- {name: other, clientConfig: {service: {name: other, namespace: my-system}}}
- {name: lost, clientConfig: {service: {name: lost, namespace: my-system}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks-elsewhere}
webhooks:
- {name: too, clientConfig: {service: {name: equal, namespace: another}}}
`

// clientConfig matches a client configuration with only a URL and the CA bundle "ours".
var clientConfig = regexp.MustCompile(`"clientConfig":{"url":"([^"]*)","caBundle":"b3Vycw=="}`)

func TestWebhookURLPointsToManager(t *testing.T) {
	install := installOf(t, withWebhooks, "")
	if !install.HasWebhooks() {
		t.Error("got no webhooks, want some")
	}
	var urls []string
	for _, configuration := range install.Webhooks(func(manager string, port int32, path string) string { return fmt.Sprint(manager, " ", port, path) }, []byte("ours")) {
		webhooks, _, err := unstructured.NestedSlice(configuration.(*unstructured.Unstructured).Object, "webhooks")
		noError(t, err)
		for _, webhook := range webhooks {
			fields := webhook.(map[string]any)
			config := fields["clientConfig"].(map[string]any)
			urls = append(urls, fmt.Sprint(configuration.GetObjectKind().GroupVersionKind().Kind, " ", configuration.GetName(),
				" ", config["url"], " ", fields["namespaceSelector"]))
			if len(config) != 2 || config["caBundle"] != "b3Vycw==" {
				t.Errorf("got client configuration %v, want only a URL and the CA bundle", config)
			}
		}
	}
	expectEqual(t, "URLs and namespace selectors", urls,
		"MutatingWebhookConfiguration sets manager 9876/mutate <nil>",
		"MutatingWebhookConfiguration sets manager 9443/ map[matchExpressions:[map[key:team operator:NotIn values:[a]]]]",
		"ValidatingWebhookConfiguration checks manager 443/validate <nil>")
	expectEqual(t, "notes", install.Notes,
		"webhook elsewhere: it refers to no Service, so it is not called",
		"webhook named: its namespaceSelector excludes the namespaces of the runs, so it is ignored, and the webhook is called in every run",
		"webhook missing: its Service missing is not in the manifests, so it is not called",
		"webhook not-the-port: its Service numbered has no port 443, so it is not called",
		"webhook other: its Service other does not select manager, so it is not called",
		"webhook lost: its Service lost refers to port none, which the container does not have, so it is not called",
		"webhook too: its Service equal is not in the manifests, so it is not called")
}

const withConversion = withWebhooks + `
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: greeters.example.com}
spec:
  versions: [{name: v1, served: true}, {name: v2, served: true, storage: true}, {name: v3, served: true}]
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {caBundle: Y2E=, service: {name: named, namespace: my-system, path: /convert}}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: others.example.com}
spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: other, namespace: my-system}}}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: simple.example.com}
spec: {conversion: {strategy: None}}
`

func TestConversionURLPointsToManager(t *testing.T) {
	install := installOf(t, withConversion, "")
	var found []string
	for _, crd := range install.ServedCRDs(func(manager string, port int32, path, stored string) string {
		return fmt.Sprint(manager, " ", port, path, " ", stored)
	}, []byte("ours")) {
		text, err := json.Marshal(crd.Spec.Conversion)
		noError(t, err)
		found = append(found, clientConfig.ReplaceAllString(string(text), "$1"))
	}
	expectEqual(t, "conversions", found, `{"strategy":"Webhook","webhook":{manager 9876/convert v2,"conversionReviewVersions":["v1"]}}`, "null", `{"strategy":"None"}`)
	expectEqual(t, "last note", install.Notes[len(install.Notes)-1:], "conversion webhook of others.example.com: its Service other does not select manager, so it is not called")
}

func TestConversionCountsAsWebhook(t *testing.T) {
	_, conversion, _ := strings.Cut(withConversion, "  conversion: ")
	conversion, _, _ = strings.Cut(conversion, "---")
	workload, _, _ := strings.Cut(withWebhooks, "apiVersion: admissionregistration")
	install := installOf(t, workload+"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, spec: {conversion: "+conversion+"}}", "")
	if !install.HasWebhooks() {
		t.Error("got no webhooks, want some")
	}
}
