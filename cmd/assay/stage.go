package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// stage is a control plane with an explorer of a subject.
type stage struct {
	plane    *controlplane.ControlPlane
	webhooks *webhook.Router // nil if the operator has none
	explorer *explore.Explorer
}

// close stops everything.
func (s *stage) close() error {
	if s.explorer != nil {
		s.explorer.Close()
	}
	var err error
	if s.plane != nil {
		err = s.plane.Stop()
	}
	if s.webhooks != nil {
		err = errors.Join(err, s.webhooks.Close())
	}
	return err
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
	if err := started.startRouter(s.install, out); err != nil {
		return nil, err
	}
	crds, err := s.crdFiles()
	if err != nil {
		return nil, err
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{CRDs: crds})
	if err != nil {
		return nil, err
	}
	started.plane = plane
	identity, err := s.identity(ctx, plane)
	if err != nil {
		return nil, err
	}
	if err := started.installWebhooks(ctx, s.install); err != nil {
		return nil, err
	}
	options := explore.Options{
		ControlPlane: plane,
		Identity:     identity,
		Operator:     explore.Pod(started.reachable(s.container)),
		Scenarios:    s.catalogue.Scenarios,
		Seed:         seed,
		Progress:     out,
	}
	if s.install != nil {
		options.Prepare = s.prepare(started, identity)
		for _, note := range s.install.Notes {
			fmt.Fprintln(out, "note:", note)
		}
		if err := pod.Unavailable(); err != nil {
			options.Parallel = 1
			fmt.Fprintf(out, "note: one run at a time, because the operator's ports may be fixed, and %s\n", err)
		}
	}
	started.explorer, err = explore.New(ctx, options)
	return started, err
}

// startRouter starts what the API server's requests to the operator's webhooks pass, and has it convert the objects of the
// CRDs.
func (s *stage) startRouter(install *project.Install, out io.Writer) error {
	if install == nil || !install.HasWebhooks() {
		return nil
	}
	router, err := webhook.NewRouter()
	if err != nil {
		return err
	}
	router.Refused = func(why string) {
		fmt.Fprintln(out, "note: stored objects are not converted, and read as they are,", why)
	}
	s.webhooks = router
	install.ServeConversions(router.ConversionURL, router.CA)
	return nil
}

// installWebhooks has the API server ask the operator's admission webhooks.
func (s *stage) installWebhooks(ctx context.Context, install *project.Install) error {
	if s.webhooks == nil {
		return nil
	}
	for _, configuration := range install.Webhooks(s.webhooks.URL, s.webhooks.CA) {
		if err := s.plane.Client.Create(ctx, configuration); err != nil {
			return fmt.Errorf("installing %s: %w", configuration.GetName(), err)
		}
	}
	return nil
}

// reachable returns containers that the webhooks' requests reach.
func (s *stage) reachable(container func(namespace string) pod.Container) func(namespace string) pod.Container {
	if s.webhooks == nil {
		return container
	}
	return func(namespace string) pod.Container {
		c := container(namespace)
		c.Reach = func(dial pod.Dial) { s.webhooks.Attach(namespace, dial) }
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

// prepare makes a run's namespace the operator's own: with its permissions there, its ConfigMaps and its Secrets.
func (s *subject) prepare(on *stage, identity *rest.Config) func(context.Context, string) error {
	plane := on.plane
	return func(ctx context.Context, namespace string) error {
		if on.webhooks != nil {
			on.webhooks.Expect(ctx, namespace)
		}
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
