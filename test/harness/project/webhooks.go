package project

import (
	"cmp"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// HasWebhooks tells whether the manager serves a webhook, of admission or conversion.
func (i *Install) HasWebhooks() bool {
	return len(i.mutating)+len(i.validating) > 0 || slices.ContainsFunc(i.CRDs, HasConversion)
}

// ServedCRDs are the CRDs, with the API server's way to the webhook that converts their objects. url returns where it finds
// that, by the port and the path on which the manager serves it and the version in which the objects are stored, and ca is
// whom it trusts there.
func (i *Install) ServedCRDs(url func(port int32, path, stored string) string, ca []byte) []*apiextensionsv1.CustomResourceDefinition {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, crd := range i.CRDs {
		crd = crd.DeepCopy()
		crds = append(crds, crd)
		if !HasConversion(crd) {
			continue
		}
		config := crd.Spec.Conversion.Webhook.ClientConfig
		port, _ := i.Manager.servedPort(serviceOf(config))
		stored := ""
		for _, version := range crd.Spec.Versions {
			if version.Storage {
				stored = version.Name
			}
		}
		target := url(port, ptr.Deref(config.Service.Path, "/"), stored)
		*config = apiextensionsv1.WebhookClientConfig{URL: &target, CABundle: ca}
	}
	return crds
}

// HasConversion tells whether a webhook converts a kind's objects.
func HasConversion(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

// serviceOf is what a conversion webhook's configuration leads to; nil if it names no Service.
func serviceOf(config *apiextensionsv1.WebhookClientConfig) *admissionregistrationv1.ServiceReference {
	if config == nil || config.Service == nil {
		return nil
	}
	s := config.Service
	return &admissionregistrationv1.ServiceReference{Namespace: s.Namespace, Name: s.Name, Path: s.Path, Port: s.Port}
}

// readConversions leaves out the conversion webhooks that the manager does not serve.
func (i *Install) readConversions() {
	for _, crd := range i.CRDs {
		if !HasConversion(crd) {
			continue
		}
		var config *apiextensionsv1.WebhookClientConfig
		if webhook := crd.Spec.Conversion.Webhook; webhook != nil {
			config = webhook.ClientConfig
		}
		if _, err := i.Manager.servedPort(serviceOf(config)); err != nil {
			crd.Spec.Conversion = nil
			i.Notes = append(i.Notes, fmt.Sprintf("conversion of %s: %s, so its webhook is not called", crd.Name, err))
		}
	}
}

// Webhooks are the configurations of the admission webhooks that the manager serves, ready to be created. url returns
// where the API server finds one, by the port and the path on which the manager serves it, and ca is whom it trusts
// there.
func (i *Install) Webhooks(url func(port int32, path string) string, ca []byte) []client.Object {
	var configurations []client.Object
	redirect := func(config *admissionregistrationv1.WebhookClientConfig) {
		port, _ := i.Manager.servedPort(config.Service)
		target := url(port, ptr.Deref(config.Service.Path, "/"))
		*config = admissionregistrationv1.WebhookClientConfig{URL: &target, CABundle: ca}
	}
	for _, configuration := range i.mutating {
		configuration = configuration.DeepCopy()
		for w := range configuration.Webhooks {
			redirect(&configuration.Webhooks[w].ClientConfig)
		}
		configurations = append(configurations, configuration)
	}
	for _, configuration := range i.validating {
		configuration = configuration.DeepCopy()
		for w := range configuration.Webhooks {
			redirect(&configuration.Webhooks[w].ClientConfig)
		}
		configurations = append(configurations, configuration)
	}
	return configurations
}

// readWebhooks keeps the webhooks that the manager serves.
func (i *Install) readWebhooks(o objects) {
	i.services = o.services
	served := func(name string, config admissionregistrationv1.WebhookClientConfig) bool {
		if _, err := i.Manager.servedPort(config.Service); err != nil {
			i.Notes = append(i.Notes, fmt.Sprintf("webhook %s: %s, so it is not called", name, err))
			return false
		}
		return true
	}
	for _, configuration := range o.mutating {
		configuration.Webhooks = slices.DeleteFunc(configuration.Webhooks, func(w admissionregistrationv1.MutatingWebhook) bool { return !served(w.Name, w.ClientConfig) })
		if len(configuration.Webhooks) > 0 {
			i.mutating = append(i.mutating, configuration)
		}
	}
	for _, configuration := range o.validating {
		configuration.Webhooks = slices.DeleteFunc(configuration.Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool { return !served(w.Name, w.ClientConfig) })
		if len(configuration.Webhooks) > 0 {
			i.validating = append(i.validating, configuration)
		}
	}
}

// servedPort is the port on which the manager serves what a webhook's Service leads to.
func (m *Manager) servedPort(reference *admissionregistrationv1.ServiceReference) (int32, error) {
	if reference == nil {
		return 0, fmt.Errorf("it names no Service")
	}
	at := slices.IndexFunc(m.install.services, func(s *corev1.Service) bool { return s.Namespace == reference.Namespace && s.Name == reference.Name })
	if at < 0 {
		return 0, fmt.Errorf("its Service %s is not among the manifests", reference.Name)
	}
	service := m.install.services[at]
	if len(service.Spec.Selector) == 0 || !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(m.workload.template.Labels)) {
		return 0, fmt.Errorf("its Service %s does not lead to %s", reference.Name, m.workload.name)
	}
	wanted := ptr.Deref(reference.Port, 443)
	at = slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == wanted })
	if at < 0 {
		return 0, fmt.Errorf("its Service %s has no port %d", reference.Name, wanted)
	}
	target := service.Spec.Ports[at].TargetPort
	if target.Type == intstr.Int {
		return cmp.Or(target.IntVal, wanted), nil
	}
	for _, port := range m.container.Ports {
		if port.Name == target.StrVal {
			return port.ContainerPort, nil
		}
	}
	return 0, fmt.Errorf("its Service %s leads to port %s, which the container does not name", reference.Name, target.StrVal)
}
