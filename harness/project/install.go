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
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/pod"
)

// Install holds the parts of an operator's manifests that a run needs.
type Install struct {
	// Rendered contains the last definition of each object in the manifests, except for Helm tests.
	Rendered []unstructured.Unstructured
	// CRDs are the CRDs in the manifests. Conversion webhooks that no manager serves are removed. The Service
	// references of the other webhooks contain the name and port of the manager.
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
	webhooks            []*admissionregistrationv1.MutatingWebhookConfiguration // validating webhooks have the same fields
}

// ofChildren lists the built-in kinds that an operator's children may refer to.
var ofChildren = []string{
	"ServiceAccount", "Role.rbac.authorization.k8s.io", "ClusterRole.rbac.authorization.k8s.io", "PriorityClass.scheduling.k8s.io",
	"RuntimeClass.node.k8s.io",
}

// helmHook is the annotation for objects that Helm creates only at certain times, such as pre-install or test.
const helmHook = "helm.sh/hook"

// ReadInstall reads rendered manifests, except for Helm tests. If an object is defined several times, ReadInstall uses
// the last definition, which `kubectl apply` applies last. manager is the name of the operator's Deployment, and
// companions lists the Deployments that run alongside it. If manager is empty, ReadInstall chooses from the Deployments
// that are not companions: the only one, or the only one with a container named manager.
func ReadInstall(rendered []unstructured.Unstructured, manager string, companions ...string) (*Install, error) {
	rendered = slices.DeleteFunc(slices.Clone(rendered), func(object unstructured.Unstructured) bool {
		return strings.HasPrefix(object.GetAnnotations()[helmHook], "test") // only `helm test` creates it
	})
	slices.Reverse(rendered)
	defined := sets.New[[3]string]()
	rendered = slices.DeleteFunc(rendered, func(object unstructured.Unstructured) bool {
		key := [3]string{object.GroupVersionKind().GroupKind().String(), object.GetNamespace(), object.GetName()}
		defer defined.Insert(key)
		return defined.Has(key)
	})
	slices.Reverse(rendered)
	o, err := readObjects(rendered)
	if err != nil {
		return nil, err
	}
	isBundle := func(object unstructured.Unstructured) bool { return object.GetKind() == "ClusterServiceVersion" }
	if len(o.workloads) == 0 && slices.ContainsFunc(rendered, isBundle) {
		return nil, errors.New("the manifests are an OLM bundle: with --install, pass the manifests that it was generated from, such as " + DefaultInstall)
	}
	chosen, others, err := o.choose(manager, companions)
	if err != nil {
		return nil, err
	}
	o.setNamespace(&chosen)
	install := &Install{Rendered: rendered, CRDs: o.crds, objects: o}
	install.ConfigMaps = slices.DeleteFunc(slices.Clone(o.configMaps), func(c *corev1.ConfigMap) bool { return c.Namespace != chosen.namespace })
	install.Secrets = slices.DeleteFunc(slices.Clone(o.secrets), func(s *corev1.Secret) bool { return s.Namespace != chosen.namespace })
	for _, object := range rendered {
		if object.GetNamespace() != "" && object.GetNamespace() != chosen.namespace {
			continue
		}
		resource, kind := object.DeepCopy(), object.GroupVersionKind().GroupKind()
		isOfChildren := slices.Contains(ofChildren, kind.String())
		if isOfChildren {
			resource.SetGroupVersionKind(kind.WithVersion("v1")) // the beta versions have the same fields but are no longer served
		}
		if isOfChildren || crdOf(object, o.crds) != nil {
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

func readObjects(rendered []unstructured.Unstructured) (o objects, _ error) {
	var workloads []*appsv1.Deployment // a StatefulSet has the same template
	const rbac, admission = ".rbac.authorization.k8s.io", ".admissionregistration.k8s.io"
	decoders := map[string]func(unstructured.Unstructured) error{
		"CustomResourceDefinition.apiextensions.k8s.io": into(&o.crds),
		"Deployment.apps":           into(&workloads),
		"Deployment.extensions":     into(&workloads),
		"StatefulSet.apps":          into(&workloads),
		"Role" + rbac:               into(&o.roles),
		"ClusterRole" + rbac:        into(&o.clusterRoles),
		"RoleBinding" + rbac:        into(&o.roleBindings),
		"ClusterRoleBinding" + rbac: into(&o.clusterRoleBindings),
		"ConfigMap":                 into(&o.configMaps),
		"Secret":                    into(&o.secrets),
		"Service":                   into(&o.services),
		"MutatingWebhookConfiguration" + admission:   into(&o.webhooks),
		"ValidatingWebhookConfiguration" + admission: into(&o.webhooks),
	}
	for _, object := range rendered {
		if object.GroupVersionKind().GroupKind().String() == "Secret" {
			dropVariables(object)
		}
		if decode, isRead := decoders[object.GroupVersionKind().GroupKind().String()]; isRead {
			if err := decode(object); err != nil {
				return o, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
			}
		}
	}
	for _, crd := range o.crds {
		if current := apiextensionsv1.SchemeGroupVersion.String(); crd.APIVersion != current {
			return o, fmt.Errorf("CustomResourceDefinition %s: Kubernetes 1.22 and later do not serve %s: convert it to %s, for example with controller-gen", crd.Name, crd.APIVersion, current)
		}
	}
	for _, of := range workloads {
		o.workloads = append(o.workloads, workload{of.Name, of.Namespace, of.Annotations[helmHook] != "", of.Spec.Template})
	}
	for _, secret := range o.secrets {
		for key, text := range secret.StringData { // the API server merges stringData into data in the same way
			if secret.Data == nil {
				secret.Data = map[string][]byte{}
			}
			secret.Data[key] = []byte(text)
		}
	}
	return o, nil
}

// dropVariables replaces clusterctl's variables in a Secret with their defaults. It drops keys that use a variable
// without a default.
func dropVariables(secret unstructured.Unstructured) {
	data, _ := secret.Object["data"].(map[string]any)
	for key, value := range data {
		if text, is := value.(string); is && strings.Contains(text, "${") {
			text = strings.Trim(clusterctlVariable.ReplaceAllString(text, "$1"), `"`)
			if data[key] = text; strings.Contains(text, "${") {
				delete(data, key)
			}
		}
	}
}

// into returns a function that decodes an object and appends it to the list. The object is first converted to JSON,
// because the errors of the JSON decoder contain the name of the invalid field.
func into[T any](list *[]*T) func(unstructured.Unstructured) error {
	return func(object unstructured.Unstructured) error {
		text, err := object.MarshalJSON()
		if err != nil {
			return err
		}
		typed := new(T)
		*list = append(*list, typed)
		err = json.Unmarshal(text, typed)
		if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
			return fmt.Errorf("%s: want %s, got %s", wrong.Field, wrong.Type, wrong.Value)
		}
		if base64Error, is := errors.AsType[base64.CorruptInputError](err); is {
			return fmt.Errorf("a field that must contain base64 is invalid: %w", base64Error)
		}
		return err
	}
}
