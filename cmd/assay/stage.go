package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/invent"
	"github.com/operator-assay/assay/harness/pod"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/webhook"
)

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
	mounts   *mounts         // nil if no manager mounts objects
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
	if s.options.built == "" { // else the image has the control plane, too
		if err := useControlPlane(command, s.options.version); err != nil {
			return nil, err
		}
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
		Beside:       shared.Beside,
		Prepare:      shared.Prepare,
		Another:      func(ctx context.Context) (explore.Place, error) { return started.add(ctx, s, true, out) },
		Home:         s.home(),
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
	if p.plane, err = controlplane.Start(ctx, about.crdOptions(p.webhooks)); err != nil {
		return added, planeError(err)
	}
	identity, err := about.identity(ctx, p.plane)
	if err != nil {
		return added, err
	}
	if err := p.installResources(ctx, about.install, ""); err != nil {
		return added, err
	}
	if err := p.installWebhooks(ctx, about.install); err != nil {
		return added, err
	}
	if about.install != nil && slices.ContainsFunc(about.install.Managers(), (*project.Manager).MountsObjects) {
		clientset, err := kubernetes.NewForConfig(p.plane.Config)
		if err != nil {
			return added, err
		}
		if p.mounts, err = newMounts(ctx, clientset); err != nil {
			return added, err
		}
	}
	added = explore.Place{ControlPlane: p.plane, Identity: identity, Operator: explore.Pod(p.container(about.folder, about.operator))}
	if about.install != nil {
		if added.Beside, err = p.besideOf(ctx, about); err != nil {
			return added, err
		}
		added.Prepare = about.prepare(p, identity, added.Beside)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places = append(s.places, p)
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

// container returns the containers of a program, with what reaches them from outside.
func (p *place) container(folder string, of *program) func(namespace string) pod.Container {
	return func(namespace string) pod.Container {
		var podUID types.UID
		if of.manager != nil {
			podUID = p.pods.uid(namespace, of.manager.Name())
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

// playAll plays all plans, of invented scenarios while others are invented.
func (s *stage) playAll(ctx context.Context, about *subject) ([]explore.Result, error) {
	invents := len(s.explorer.Scenarios) == 0
	running := s.explorer.Start(ctx, fault.Categories...)
	if invents {
		if _, err := s.invent(ctx, about, running.Add); err != nil {
			played, _ := running.Wait()
			return played, err
		}
	}
	return running.Wait()
}

// inventAll invents the scenarios, or those of some names, if there are none.
func (s *stage) inventAll(ctx context.Context, about *subject, names ...string) error {
	if len(s.explorer.Scenarios) > 0 {
		return nil
	}
	_, err := s.invent(ctx, about, s.explorer.AddScenario, names...)
	return err
}

// invent invents scenarios, prints them, and gives each to found as soon as it is there.
func (s *stage) invent(ctx context.Context, about *subject, found func(scenario.Scenario) error, names ...string) (*invent.Invented, error) {
	log := s.explorer.Log("invent")
	log.Println(fmt.Sprintf("inventing scenarios from %v", about.catalogue.Samples))
	s.explorer.LeaveOut = true
	tell := func(i invent.Scenario) error {
		log.Println(fmt.Sprintf("  %-32s  %s", i.Name, i.About))
		return found(i.Scenario)
	}
	invented, err := invent.Scenarios(ctx, s.explorer, about.samples, tell, names...)
	if err != nil {
		return nil, err
	}
	for _, note := range invented.Notes {
		log.Println("note: " + note)
	}
	for _, left := range invented.Left {
		log.Println("  left out: " + left)
	}
	return invented, nil
}
