package subject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/invent"
	"github.com/operator-assay/assay/harness/pod"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/webhook"
)

// Running holds the explorer and the control planes of a started Subject.
type Running struct {
	Explorer *explore.Explorer

	subject      *Subject
	mu           sync.Mutex
	environments []*environment
	refused      sync.Map // the refusals of conversions that were printed
}

type environment struct {
	plane    *controlplane.ControlPlane
	webhooks *webhook.Router // nil if the operator has no webhooks
	mounts   *mounts         // nil without manifests
	podUIDs  sync.Map        // by namespace and name of the manager
	// identities contains the API user of each program, except for an operator whose roles are read from files.
	identities map[*Program]*rest.Config
}

// Close stops the explorer and all control planes.
func (s *Running) Close() error {
	if s.Explorer != nil {
		s.Explorer.Close()
	}
	var errs []error
	for _, p := range s.environments {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}

func (p *environment) close() error {
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

// Start starts a control plane for the subject, using the binaries in KUBEBUILDER_ASSETS. Build must be called first.
// Start writes its progress and notes about the project to out. Faults that are not injected everywhere are injected at
// requests and actions that the seed selects.
func (s *Subject) Start(ctx context.Context, seed uint64, out io.Writer) (_ *Running, err error) {
	started := &Running{subject: s}
	defer func() {
		if err != nil {
			err = errors.Join(err, started.Close())
		}
	}()
	shared, err := started.add(ctx, false, out)
	if err != nil {
		return nil, err
	}
	options := explore.Options{
		Environment:    shared,
		NewEnvironment: func(ctx context.Context) (explore.Environment, error) { return started.add(ctx, true, out) },
		Scenarios:      s.catalogue.Scenarios,
		Public:         s.publicWords(),
		Seed:           seed,
		Progress:       out,
	}
	for _, note := range s.notes {
		fmt.Fprintln(out, "note:", note)
	}
	if s.install != nil {
		for _, note := range s.install.Notes {
			fmt.Fprintln(out, "note:", note)
		}
		if err := pod.Unavailable(); err != nil {
			options.Parallel = 1
			fmt.Fprintf(out, "note: running one plan at a time, without leader election and without the ServiceAccount's files, because processes cannot be isolated: %s\n", err)
		}
	}
	started.Explorer, err = explore.New(ctx, options)
	if meta.IsNoMatchError(err) {
		err = inputErrorf("%w: correct the scenario, or install the CRD of that kind", err)
	}
	return started, err
}

// add starts a control plane for the subject. If exclusive is true, only one run at a time uses it.
func (s *Running) add(ctx context.Context, exclusive bool, out io.Writer) (added explore.Environment, err error) {
	about, p := s.subject, &environment{identities: map[*Program]*rest.Config{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if about.install != nil && about.install.HasWebhooks() {
		if p.webhooks, err = webhook.NewRouter(); err != nil {
			return added, err
		}
		p.webhooks.SingleOperator = exclusive
		p.webhooks.Refused = func(why string) {
			if _, isKnown := s.refused.LoadOrStore(why, true); !isKnown {
				fmt.Fprintf(out, "note: cannot convert stored objects %s; returning them unconverted\n", why)
			}
		}
	}
	if p.plane, err = controlplane.Start(ctx, about.crdOptions(p.webhooks)); err != nil {
		return added, planeError(err)
	}
	if err := p.installResources(ctx, about.install, ""); err != nil {
		return added, err
	}
	identity, err := p.addUser(ctx, about, about.operator) // after the ClusterRoles are installed, because it reads them
	if err != nil {
		return added, err
	}
	if err := p.installWebhooks(ctx, about.install); err != nil {
		return added, err
	}
	added = explore.Environment{Home: about.home(), ControlPlane: p.plane, Identity: identity, Operator: explore.Pod(p.container(about.temporary.path, about.operator))}
	if about.install != nil {
		clientset, err := kubernetes.NewForConfig(p.plane.Config)
		if err != nil {
			return added, err
		}
		p.mounts = newMounts(ctx, clientset)
		if added.Companions, err = p.companionsOf(ctx, about); err != nil {
			return added, err
		}
		added.Prepare = about.prepare(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.environments = append(s.environments, p)
	return added, nil
}

func (p *environment) installWebhooks(ctx context.Context, install *project.Install) error {
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

// container returns a function that returns a program's container for a given namespace. The container is connected to
// the webhook router, and its mounted files are kept up to date.
func (p *environment) container(folder string, of *Program) func(namespace string) pod.Container {
	return func(namespace string) pod.Container {
		var podUID types.UID
		if of.manager != nil {
			podUID = p.podUID(namespace, of.manager.Name())
		}
		c := of.container(namespace, podUID)
		c.Folder = folder
		if p.mounts != nil {
			p.mounts.follow(&c, of.manager.In(podUID))
		}
		if p.webhooks != nil {
			c.Reach = func(dial pod.Dial) { p.webhooks.Attach(namespace, of.manager.Name(), dial) }
		}
		return c
	}
}

// Explore runs all plans. If the subject has no scenarios, Explore derives them from the samples, and starts running
// plans for the first scenarios while it is still deriving the rest.
func (s *Running) Explore(ctx context.Context) ([]explore.Result, error) {
	running := s.Explorer.Start(ctx, fault.Categories...)
	_, err := s.invent(ctx, running.Add)
	played, failed := running.Wait()
	return played, cmp.Or(err, failed)
}

// Invent derives scenarios from the samples and adds them to the explorer. If names are given, it adds only the
// scenarios with these names. It returns nil if the explorer already has scenarios.
func (s *Running) Invent(ctx context.Context, names ...string) (*invent.Invented, error) {
	return s.invent(ctx, s.Explorer.AddScenario, names...)
}

func (s *Running) invent(ctx context.Context, found func(scenario.Scenario) error, names ...string) (*invent.Invented, error) {
	if len(s.Explorer.Options.Scenarios) > 0 {
		return nil, nil
	}
	log := s.Explorer.Log("invent")
	log.Println("deriving scenarios from " + strings.Join(s.subject.catalogue.Samples, ", "))
	s.Explorer.Options.LeaveOut = true
	tell := func(i invent.Scenario) error {
		log.Println(fmt.Sprintf("  %-32s  %s", i.Name, i.About))
		return found(i.Scenario)
	}
	invented, err := invent.Scenarios(ctx, s.Explorer, s.subject.samples, tell, names...)
	if invented == nil {
		return nil, err
	}
	for _, note := range invented.Notes {
		log.Println("note: " + note)
	}
	for _, left := range invented.Left {
		log.Println("  left out: " + left)
	}
	return invented, err
}
