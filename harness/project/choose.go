package project

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

type workload struct {
	name, namespace string
	isHook          bool // a Helm hook
	template        corev1.PodTemplateSpec
}

func (o *objects) choose(manager string, companions []string) (chosen workload, others []workload, _ error) {
	if len(o.workloads) == 0 {
		return chosen, nil, errors.New("the manifests contain no Deployment: pass the manifests that contain the operator's Deployment with --install, or pass --operator, --role and --scenarios instead")
	}
	for i, name := range companions {
		switch other, err := o.workload(name); {
		case err != nil:
			return chosen, nil, fmt.Errorf("companions: %w", err)
		case name == manager:
			return chosen, nil, fmt.Errorf("companions: Deployment %s is the operator itself: remove it from companions", name)
		case slices.Contains(companions[:i], name):
			return chosen, nil, fmt.Errorf("companions: Deployment %s is listed twice: remove one of them", name)
		default:
			others = append(others, other)
		}
	}
	chosen, err := o.chooseManager(manager, companions)
	if err != nil {
		return chosen, nil, err
	}
	for _, other := range others {
		if other.namespace != "" && chosen.namespace != "" && other.namespace != chosen.namespace {
			return chosen, nil, fmt.Errorf("companions: Deployment %s is in namespace %s, but the operator's Deployment %s is in %s: they must be in the same namespace", other.name, other.namespace, chosen.name, chosen.namespace)
		}
	}
	return chosen, others, nil
}

// chooseManager returns the workload with the given name. If name is empty, it ignores the companions, and also Helm
// hooks if there are other workloads. It returns the only remaining workload, or the only one with a container named
// manager.
func (o *objects) chooseManager(name string, companions []string) (workload, error) {
	if name != "" {
		return o.workload(name)
	}
	candidates := slices.DeleteFunc(slices.Clone(o.workloads), func(w workload) bool { return slices.Contains(companions, w.name) })
	if regular := slices.DeleteFunc(slices.Clone(candidates), func(w workload) bool { return w.isHook }); len(regular) > 0 {
		candidates = regular
	}
	likely := slices.DeleteFunc(slices.Clone(candidates), func(w workload) bool { return w.manager().Name != managerName })
	switch {
	case len(candidates) == 1:
		return candidates[0], nil
	case len(likely) == 1:
		return likely[0], nil
	case len(candidates) == 0:
		return workload{}, fmt.Errorf("companions lists all Deployments in the manifests (%s): remove the operator's Deployment from it", strings.Join(names(o.workloads), ", "))
	default:
		return workload{}, fmt.Errorf("the manifests contain %d Deployments (%s): pass the operator's with --manager", len(candidates), strings.Join(names(candidates), ", "))
	}
}

func (o *objects) workload(name string) (workload, error) {
	at := slices.IndexFunc(o.workloads, func(w workload) bool { return w.name == name })
	if at < 0 {
		return workload{}, fmt.Errorf("no Deployment %s in the manifests, only %s", name, strings.Join(names(o.workloads), ", "))
	}
	return o.workloads[at], nil
}

func names(workloads []workload) []string {
	var all []string
	for _, w := range workloads {
		all = append(all, w.name)
	}
	return all
}

const managerName = "manager"

// manager returns kubectl's default container, if it is set. Otherwise, it prefers the container named manager, then
// the container with the workload's name, with or without a prefix such as the name of a Helm release, and then the
// first container whose name does not end with proxy.
func (w workload) manager() corev1.Container {
	containers := w.template.Spec.Containers
	for _, isOperator := range []func(corev1.Container) bool{
		func(c corev1.Container) bool {
			return c.Name == w.template.Annotations["kubectl.kubernetes.io/default-container"]
		},
		func(c corev1.Container) bool { return c.Name == managerName },
		func(c corev1.Container) bool { return strings.HasSuffix("-"+w.name, "-"+c.Name) },
		func(c corev1.Container) bool { return !isProxy(c) },
		func(corev1.Container) bool { return true },
	} {
		if i := slices.IndexFunc(containers, isOperator); i >= 0 {
			return containers[i]
		}
	}
	return corev1.Container{}
}

func isProxy(c corev1.Container) bool { return strings.HasSuffix(c.Name, "proxy") }
