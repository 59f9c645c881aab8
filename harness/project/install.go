package project

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/pod"
)

// Install holds the parts of an operator's manifests that a run needs.
type Install struct {
	// Rendered contains all objects in the manifests.
	Rendered []unstructured.Unstructured
	// CRDs are the CRDs in the manifests. Conversion webhooks that no manager serves are removed. The others refer
	// to the Service and port of the manager.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// ConfigMaps and Secrets are in the operator's namespace.
	ConfigMaps []*corev1.ConfigMap
	Secrets    []*corev1.Secret
	// Resources are the operator's custom resources, such as its configuration, and objects that the operator's children
	// may refer to, such as ServiceAccounts. Resources in other namespaces are skipped.
	Resources []*unstructured.Unstructured
	// Manager describes how the operator is started. Companions describes the managers that run alongside it.
	Manager    *Manager
	Companions []*Manager
	// Notes are messages for the user, for example about manifest features that are not supported in a run.
	Notes []string

	certificates pod.Certificates // for Secrets that are not in the manifests, such as those created by cert-manager
	objects      objects
	webhooks     []client.Object // configurations with the webhooks that a manager serves
}

type objects struct {
	crds                []*apiextensionsv1.CustomResourceDefinition
	workloads           []workload
	roles               []*rbacv1.Role
	clusterRoles        []*rbacv1.ClusterRole
	roleBindings        []*rbacv1.RoleBinding
	clusterRoleBindings []*rbacv1.ClusterRoleBinding
	configMaps          []*corev1.ConfigMap
	secrets             []*corev1.Secret
	services            []*corev1.Service
	mutating            []*admissionregistrationv1.MutatingWebhookConfiguration
	validating          []*admissionregistrationv1.ValidatingWebhookConfiguration
	others              []unstructured.Unstructured
}

// ofChildren lists the built-in kinds that an operator's children may refer to.
var ofChildren = []string{
	"ServiceAccount", "Role.rbac.authorization.k8s.io", "ClusterRole.rbac.authorization.k8s.io", "PriorityClass.scheduling.k8s.io",
	"RuntimeClass.node.k8s.io",
}

// helmHook is the annotation for objects that Helm creates only at certain times, such as pre-install or test.
const helmHook = "helm.sh/hook"

// ReadInstall reads rendered manifests, except for Helm tests. manager is the name of the operator's Deployment, and
// companions lists the Deployments that run alongside it. If manager is empty, ReadInstall chooses one of the remaining
// Deployments. It prefers Deployments that are not Helm hooks. If there are several, exactly one of them must have a
// container named manager.
func ReadInstall(rendered []unstructured.Unstructured, manager string, companions ...string) (*Install, error) {
	var o objects
	for _, object := range rendered {
		if strings.HasPrefix(object.GetAnnotations()[helmHook], "test") {
			continue // only `helm test` creates it
		}
		if err := o.add(object); err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	chosen, others, err := o.choose(manager, companions)
	if err != nil {
		return nil, err
	}
	o.setNamespace(&chosen)
	install := &Install{Rendered: rendered, CRDs: o.crds, objects: o}
	install.ConfigMaps = slices.DeleteFunc(slices.Clone(o.configMaps), func(c *corev1.ConfigMap) bool { return c.Namespace != chosen.namespace })
	install.Secrets = slices.DeleteFunc(slices.Clone(o.secrets), func(s *corev1.Secret) bool { return s.Namespace != chosen.namespace })
	for _, object := range o.others {
		elsewhere := object.GetNamespace() != "" && object.GetNamespace() != chosen.namespace
		resource, kind := object.DeepCopy(), object.GroupVersionKind().GroupKind()
		isOfChildren := slices.Contains(ofChildren, kind.String())
		if isOfChildren {
			resource.SetGroupVersionKind(kind.WithVersion("v1")) // the beta versions have the same fields but are no longer served
		}
		if (isOfChildren || crdOf(object, o.crds) != nil) && !elsewhere {
			install.Resources = append(install.Resources, resource)
		}
	}
	if install.certificates, err = pod.NewCertificates("localhost", "127.0.0.1"); err != nil {
		return nil, err
	}
	if install.Manager, err = install.newManager(chosen); err != nil {
		return nil, err
	}
	for _, other := range others {
		other.namespace = chosen.namespace
		manager, err := install.newManager(other)
		if err != nil {
			return nil, err
		}
		install.Companions = append(install.Companions, manager)
	}
	install.readWebhooks()
	install.readConversions()
	return install, nil
}

// Managers returns the operator's manager, followed by the managers that run alongside it.
func (i *Install) Managers() []*Manager {
	return slices.Insert(slices.Clone(i.Companions), 0, i.Manager)
}

func (i *Install) note(text string) {
	if !slices.Contains(i.Notes, text) {
		i.Notes = append(i.Notes, text)
	}
}

// setNamespace puts objects without a namespace into the operator's namespace, as `kubectl apply -n` does. If the
// operator's workload has no namespace, setNamespace takes it from a binding whose subjects include the workload's
// ServiceAccount.
func (o *objects) setNamespace(chosen *workload) {
	for _, binding := range o.clusterRoleBindings {
		chosen.namespace = cmp.Or(chosen.namespace, chosen.namespaceIn(binding.Subjects))
	}
	for _, binding := range o.roleBindings {
		chosen.namespace = cmp.Or(chosen.namespace, chosen.namespaceIn(binding.Subjects))
	}
	setNamespace(o.roles, chosen.namespace)
	setNamespace(o.roleBindings, chosen.namespace)
	setNamespace(o.configMaps, chosen.namespace)
	setNamespace(o.secrets, chosen.namespace)
	setNamespace(o.services, chosen.namespace)
}

func setNamespace[T metav1.Object](objects []T, namespace string) {
	for _, object := range objects {
		object.SetNamespace(cmp.Or(object.GetNamespace(), namespace))
	}
}

func (o *objects) add(object unstructured.Unstructured) error {
	switch object.GroupVersionKind().GroupKind().String() {
	case "CustomResourceDefinition.apiextensions.k8s.io":
		if current := apiextensionsv1.SchemeGroupVersion.String(); object.GetAPIVersion() != current {
			return fmt.Errorf("Kubernetes 1.22 and later do not serve %s: convert it to %s, for example with controller-gen", object.GetAPIVersion(), current)
		}
		return into(object, &o.crds)
	case "Deployment.apps", "Deployment.extensions", "StatefulSet.apps":
		var deployments []*appsv1.Deployment // a StatefulSet has the same template
		err := into(object, &deployments)
		for _, d := range deployments {
			o.workloads = append(o.workloads, workload{d.Name, d.Namespace, d.Annotations[helmHook] != "", d.Spec.Template})
		}
		return err
	case "Role.rbac.authorization.k8s.io":
		o.others = append(o.others, object)
		return into(object, &o.roles)
	case "ClusterRole.rbac.authorization.k8s.io":
		o.others = append(o.others, object)
		return into(object, &o.clusterRoles)
	case "RoleBinding.rbac.authorization.k8s.io":
		return into(object, &o.roleBindings)
	case "ClusterRoleBinding.rbac.authorization.k8s.io":
		return into(object, &o.clusterRoleBindings)
	case "ConfigMap":
		return into(object, &o.configMaps)
	case "Secret":
		err := into(object, &o.secrets)
		if err != nil {
			return err
		}
		secret := o.secrets[len(o.secrets)-1]
		for key, text := range secret.StringData { // the API server merges stringData into data in the same way
			if secret.Data == nil {
				secret.Data = map[string][]byte{}
			}
			secret.Data[key] = []byte(text)
		}
		return nil
	case "Service":
		return into(object, &o.services)
	case "MutatingWebhookConfiguration.admissionregistration.k8s.io":
		return into(object, &o.mutating)
	case "ValidatingWebhookConfiguration.admissionregistration.k8s.io":
		return into(object, &o.validating)
	}
	o.others = append(o.others, object)
	return nil
}

// into decodes an object and appends it to the list. The object is first converted to JSON, because the errors of the
// JSON decoder contain the name of the invalid field.
func into[T any](object unstructured.Unstructured, list *[]*T) error {
	text, err := object.MarshalJSON()
	if err != nil {
		return err
	}
	typed := new(T)
	err = json.Unmarshal(text, typed)
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return fmt.Errorf("%s: want %s, got %s", wrong.Field, wrong.Type, wrong.Value)
	}
	if base64Error, is := errors.AsType[base64.CorruptInputError](err); is {
		return fmt.Errorf("its data is not valid base64: %w", base64Error)
	}
	*list = append(*list, typed)
	return err
}
