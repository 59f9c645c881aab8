package project

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// HasWebhooks reports whether any manager serves an admission or conversion webhook.
func (i *Install) HasWebhooks() bool {
	return slices.ContainsFunc(i.Managers(), func(m *Manager) bool { return m.ServesWebhooks })
}

// ServedCRDs returns copies of the CRDs in which the Service of a conversion webhook is replaced with a URL. manager is
// the manager's Name, stored is the storage version of the kind, and ca is the CA bundle.
func (i *Install) ServedCRDs(url func(manager string, port int32, path, stored string) string, ca []byte) []*apiextensionsv1.CustomResourceDefinition {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, crd := range i.CRDs {
		crd = crd.DeepCopy()
		crds = append(crds, crd)
		if !HasConversion(crd) {
			continue
		}
		stored := ""
		for _, version := range crd.Spec.Versions {
			if version.Storage {
				stored = version.Name
			}
		}
		config := crd.Spec.Conversion.Webhook.ClientConfig
		target := url(config.Service.Name, *config.Service.Port, ptr.Deref(config.Service.Path, "/"), stored)
		*config = apiextensionsv1.WebhookClientConfig{URL: &target, CABundle: ca}
	}
	return crds
}

// HasConversion reports whether a webhook converts the CRD's objects.
func HasConversion(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

// readConversions removes conversion webhooks that are not served by any manager.
func (i *Install) readConversions() {
	for _, crd := range i.CRDs {
		if !HasConversion(crd) {
			continue
		}
		var service *apiextensionsv1.ServiceReference
		if webhook := crd.Spec.Conversion.Webhook; webhook != nil && webhook.ClientConfig != nil {
			service = webhook.ClientConfig.Service
		}
		if !i.serve("conversion webhook of "+crd.Name, (*admissionregistrationv1.ServiceReference)(service)) {
			crd.Spec.Conversion = nil
		}
	}
}

// Webhooks returns configurations for the admission webhooks of the managers. It calls url for the URL of each webhook.
func (i *Install) Webhooks(url func(manager string, port int32, path string) string, ca []byte) []client.Object {
	var configurations []client.Object
	for _, configuration := range i.objects.webhooks {
		if len(configuration.Webhooks) == 0 {
			continue
		}
		configuration = configuration.DeepCopy()
		for w := range configuration.Webhooks {
			config := &configuration.Webhooks[w].ClientConfig
			target := url(config.Service.Name, *config.Service.Port, ptr.Deref(config.Service.Path, "/"))
			*config = admissionregistrationv1.WebhookClientConfig{URL: &target, CABundle: ca}
		}
		object, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(configuration) // cannot fail
		configurations = append(configurations, &unstructured.Unstructured{Object: object})
	}
	return configurations
}

// readWebhooks removes webhooks that no manager serves, and namespace selectors that exclude the namespace of a run.
func (i *Install) readWebhooks() {
	for _, configuration := range i.objects.webhooks {
		configuration.Webhooks = slices.DeleteFunc(configuration.Webhooks, func(w admissionregistrationv1.MutatingWebhook) bool {
			return !i.serve("webhook "+w.Name, w.ClientConfig.Service)
		})
		for w := range configuration.Webhooks {
			webhook := &configuration.Webhooks[w]
			selector, err := metav1.LabelSelectorAsSelector(webhook.NamespaceSelector)
			if webhook.NamespaceSelector != nil && err == nil && !selector.Matches(labels.Set{corev1.LabelMetadataName: "run"}) {
				i.note("webhook " + webhook.Name + ": its namespaceSelector excludes the namespaces of the runs, so it is ignored, and the webhook is called in every run")
				webhook.NamespaceSelector = nil
			}
		}
	}
}

// serve replaces the Service in a webhook's client configuration with the name and port of the manager that serves the
// webhook. It adds a note and returns false if there is no such manager.
func (i *Install) serve(name string, service *admissionregistrationv1.ServiceReference) bool {
	manager, port, err := i.server(service)
	if err != nil {
		i.note(fmt.Sprintf("%s: %s, so it is not called", name, err))
		return false
	}
	manager.ServesWebhooks = true
	service.Name, service.Port = manager.Name(), &port
	return true
}

// server returns the manager selected by the webhook's Service, and the port on which that manager serves the webhook.
func (i *Install) server(reference *admissionregistrationv1.ServiceReference) (*Manager, int32, error) {
	if reference == nil {
		return nil, 0, errors.New("it refers to no Service")
	}
	at := slices.IndexFunc(i.objects.services, func(s *corev1.Service) bool { return s.Namespace == reference.Namespace && s.Name == reference.Name })
	if at < 0 {
		return nil, 0, fmt.Errorf("its Service %s is not in the manifests", reference.Name)
	}
	service := i.objects.services[at]
	managers := i.Managers()
	at = slices.IndexFunc(managers, func(m *Manager) bool { return leadsTo(service, m.workload) })
	if at < 0 {
		return nil, 0, i.notServed(service)
	}
	port, err := managers[at].servedPort(service, ptr.Deref(reference.Port, 443))
	return managers[at], port, err
}

func leadsTo(service *corev1.Service, w workload) bool {
	return len(service.Spec.Selector) > 0 && labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(w.template.Labels))
}

func (i *Install) notServed(service *corev1.Service) error {
	at := slices.IndexFunc(i.objects.workloads, func(w workload) bool { return leadsTo(service, w) })
	if at < 0 {
		return fmt.Errorf("its Service %s does not select %s", service.Name, i.Manager.Name())
	}
	return fmt.Errorf("its Service %s selects Deployment %s, which is not listed in companions", service.Name, i.objects.workloads[at].name)
}

func (m *Manager) servedPort(service *corev1.Service, wanted int32) (int32, error) {
	at := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == wanted })
	if at < 0 {
		return 0, fmt.Errorf("its Service %s has no port %d", service.Name, wanted)
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
	return 0, fmt.Errorf("its Service %s refers to port %s, which the container does not have", service.Name, target.StrVal)
}
