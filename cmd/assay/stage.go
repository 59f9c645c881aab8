package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/test/harness/controlplane"
	"github.com/operator-assay/assay/test/harness/explore"
	"github.com/operator-assay/assay/test/harness/invent"
	"github.com/operator-assay/assay/test/harness/pod"
	"github.com/operator-assay/assay/test/harness/project"
	"github.com/operator-assay/assay/test/harness/webhook"
)

// user is the identity of the operator.
const user = "operator"

// stage is an explorer of a subject, and where it runs it.
type stage struct {
	explorer *explore.Explorer

	mu     sync.Mutex
	places []*place
}

// place is a control plane for a subject.
type place struct {
	plane    *controlplane.ControlPlane
	webhooks *webhook.Router // nil if the operator has none
	mounts   *mounts         // nil if the operator mounts no objects
	pods     ownPods
}

// close stops everything.
func (s *stage) close() error {
	if s.explorer != nil {
		s.explorer.Close()
	}
	var errs []error
	for _, p := range s.places {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}

func (p *place) close() error {
	var errs []error
	if p.mounts != nil {
		p.mounts.close()
	}
	if p.plane != nil {
		errs = append(errs, p.plane.Stop())
	}
	if p.webhooks != nil {
		errs = append(errs, p.webhooks.Close())
	}
	return errors.Join(errs...)
}

// start starts a control plane for the subject, and says what a run does without.
func (s *subject) start(command *cobra.Command, out io.Writer, seed uint64) (_ *stage, err error) {
	ctx := command.Context()
	if err := useControlPlane(command, s.options.version); err != nil {
		return nil, err
	}
	started := &stage{}
	defer func() {
		if err != nil {
			err = errors.Join(err, started.close())
		}
	}()
	shared, err := started.add(ctx, s, false, out)
	if err != nil {
		return nil, err
	}
	options := explore.Options{
		ControlPlane: shared.ControlPlane,
		Identity:     shared.Identity,
		Operator:     shared.Operator,
		Prepare:      shared.Prepare,
		Another:      func(ctx context.Context) (explore.Place, error) { return started.add(ctx, s, true, out) },
		Scenarios:    s.catalogue.Scenarios,
		Public:       s.publicWords(),
		Seed:         seed,
		Progress:     out,
	}
	if s.install != nil {
		for _, note := range s.install.Notes {
			fmt.Fprintln(out, "note:", note)
		}
		if err := pod.Unavailable(); err != nil {
			options.Parallel = 1
			fmt.Fprintf(out, "note: one run at a time, because the operator's ports may be fixed, and %s\n", err)
		}
	}
	started.explorer, err = explore.New(ctx, options)
	if meta.IsNoMatchError(err) {
		err = usagef("%w: correct the scenario, or install the CRD of that kind, too", err)
	}
	return started, err
}

// add starts a control plane for the subject, which runs share, or each has alone.
func (s *stage) add(ctx context.Context, about *subject, alone bool, out io.Writer) (added explore.Place, err error) {
	p := &place{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if about.install != nil && about.install.HasWebhooks() {
		if p.webhooks, err = webhook.NewRouter(); err != nil {
			return added, err
		}
		p.webhooks.Alone = alone
		p.webhooks.Refused = func(why string) {
			fmt.Fprintln(out, "note: stored objects are not converted, and read as they are,", why)
		}
	}
	crds, err := about.crdFiles(p.webhooks)
	if err != nil {
		return added, err
	}
	if p.plane, err = controlplane.Start(ctx, controlplane.Options{CRDs: crds}); err != nil {
		return added, planeError(err)
	}
	identity, err := about.identity(ctx, p.plane)
	if err != nil {
		return added, err
	}
	if err := p.installWebhooks(ctx, about.install); err != nil {
		return added, err
	}
	if about.install != nil && about.install.Manager.MountsObjects() {
		clientset, err := kubernetes.NewForConfig(p.plane.Config)
		if err != nil {
			return added, err
		}
		if p.mounts, err = newMounts(ctx, clientset); err != nil {
			return added, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places = append(s.places, p)
	added = explore.Place{ControlPlane: p.plane, Identity: identity, Operator: explore.Pod(p.container(about))}
	if about.install != nil {
		added.Prepare = about.prepare(p, identity)
	}
	return added, nil
}

// installWebhooks has the API server ask the operator's admission webhooks.
func (p *place) installWebhooks(ctx context.Context, install *project.Install) error {
	if p.webhooks == nil {
		return nil
	}
	for _, configuration := range install.Webhooks(p.webhooks.URL, p.webhooks.CA) {
		if err := p.plane.Client.Create(ctx, configuration); err != nil {
			return fmt.Errorf("installing %s: %w", configuration.GetName(), err)
		}
	}
	return nil
}

// container returns the operator's containers, with what reaches them from outside.
func (p *place) container(of *subject) func(namespace string) pod.Container {
	return func(namespace string) pod.Container {
		podUID := p.pods.uid(namespace)
		c := of.container(namespace, podUID)
		if p.mounts != nil {
			p.mounts.follow(&c, of.install.Manager.In(podUID))
		}
		if p.webhooks != nil {
			c.Reach = func(dial pod.Dial) { p.webhooks.Attach(namespace, dial) }
		}
		return c
	}
}

// identity returns the operator's, with the permissions that it has everywhere.
func (s *subject) identity(ctx context.Context, plane *controlplane.ControlPlane) (*rest.Config, error) {
	switch {
	case len(s.catalogue.Role) > 0:
		return plane.User(ctx, user, s.catalogue.Role)
	case len(s.install.ClusterRules) == 0:
		return plane.User(ctx, user)
	}
	role := rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Rules:      s.install.ClusterRules,
	}
	manifest, err := yaml.Marshal(role)
	if err != nil {
		return nil, err
	}
	return plane.User(ctx, user, manifest)
}

// prepare makes a run's namespace the operator's own: with its permissions there, its ConfigMaps and its Secrets, and its
// Pod if it could ask for that.
func (s *subject) prepare(on *place, identity *rest.Config) func(context.Context, string) error {
	plane := on.plane
	return func(ctx context.Context, namespace string) error {
		if len(s.install.NamespaceRules) > 0 && len(s.catalogue.Role) == 0 {
			if err := plane.Grant(ctx, user, identity, namespace, s.install.NamespaceRules); err != nil {
				return err
			}
		}
		var objects []client.Object
		for _, configMap := range s.install.ConfigMaps {
			objects = append(objects, &corev1.ConfigMap{ObjectMeta: in(namespace, configMap), Data: configMap.Data, BinaryData: configMap.BinaryData})
		}
		for _, secret := range s.install.Secrets {
			objects = append(objects, &corev1.Secret{ObjectMeta: in(namespace, secret), Type: secret.Type, Data: secret.Data})
		}
		for _, object := range objects {
			if err := plane.Client.Create(ctx, object); err != nil {
				return fmt.Errorf("installing %s: %w", object.GetName(), err)
			}
		}
		if s.install.Manager.WantsPod() {
			if err := on.pods.create(ctx, plane.Client, s.install.Manager, namespace); err != nil {
				return err
			}
		}
		if on.webhooks != nil { // not before: what is installed is admitted by nobody, as the operator has not started
			on.webhooks.Expect(ctx, namespace)
		}
		return nil
	}
}

// in returns an object's metadata in another namespace.
func in(namespace string, object metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: object.GetName(), Labels: object.GetLabels(), Annotations: object.GetAnnotations()}
}

// invent invents the scenarios, prints them, and has the explorer explore them.
func (s *stage) invent(ctx context.Context, out io.Writer, about *subject, names ...string) (*invent.Invented, error) {
	fmt.Fprintf(out, "inventing scenarios from %v\n", about.catalogue.Samples)
	invented, err := invent.Scenarios(ctx, s.explorer, about.samples, names...)
	if err != nil {
		return nil, err
	}
	for _, note := range invented.Notes {
		fmt.Fprintln(out, "note:", note)
	}
	width := 0
	for _, scenario := range invented.Scenarios {
		width = max(width, len(scenario.Document.Name))
	}
	for _, scenario := range invented.Scenarios {
		fmt.Fprintf(out, "  %-*s  %s\n", width, scenario.Document.Name, scenario.About)
	}
	for _, left := range invented.Left {
		fmt.Fprintln(out, "  left out:", left)
	}
	scenarios, err := invented.Parse()
	if err != nil {
		return nil, err
	}
	s.explorer.LeaveOut = true
	return invented, s.explorer.SetScenarios(scenarios)
}
