package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/test/harness/controlplane"
)

const (
	// warmUps are the resources that a new cluster is used to before anything is measured.
	warmUps = 10
	// healSample is how many Deployments are deleted, at the most.
	healSample = 100
	// startProbes is how many Deployments are deleted while the operator is down, at the most.
	startProbes = 20
	// idleWindow is for how long nobody does anything.
	idleWindow = 10 * time.Second
)

// Phase is what a phase has cost.
type Phase struct {
	// Resources are those that requests are shared among.
	Resources int `json:"resources"`
	// leftOut are those whose requests are not counted.
	leftOut []types.NamespacedName
	// PodsReady and StatusRight are the seconds until that was so of all of them.
	PodsReady   float64 `json:"podsReadySeconds,omitempty"`
	StatusRight float64 `json:"statusRightSeconds,omitempty"`
	// Healed and HealedStatus are the seconds from a deletion to the new Deployment, and to the right status.
	// Repaired are the seconds from a start to the last of the Deployments that had been deleted before.
	Repaired     float64    `json:"repairedSeconds,omitempty"`
	Healed       *Quantiles `json:"healed,omitempty"`
	HealedStatus *Quantiles `json:"healedStatus,omitempty"`
	Requests     Requests   `json:"requests"`
	// CPU are the seconds that each program of this run has used, the operator's "operator".
	CPU map[string]float64 `json:"cpuSeconds,omitempty"`
	// Others is the share of the machine's CPU time that other processes have used. Times are worth little where that is large.
	Others float64 `json:"othersCPU"`
	Memory Memory  `json:"memory"` // of the operator, at the end
}

// measure has a phase done, waits until the measured client rests, and adds up what that has cost.
func (w *world) measure(ctx context.Context, do func(*Phase) error) (*Phase, error) {
	p := &Phase{Resources: w.count}
	before, err := readLoad(w.folder())
	if err != nil {
		return nil, err
	}
	if err := do(p); err != nil {
		return nil, err
	}
	events, err := w.audit.untilQuiet(ctx)
	if err != nil {
		return nil, err
	}
	p.Requests = count(slices.DeleteFunc(events, func(e auditv1.Event) bool { return isAbout(e, p.leftOut) }))
	after, err := readLoad(w.folder())
	if err != nil {
		return nil, err
	}
	p.CPU, p.Others = after.since(before)
	if w.operator != nil {
		p.Memory, err = w.operator.memory()
	}
	return p, err
}

// each does something to each resource, as many at a time as there are connections.
func (w *world) each(ctx context.Context, keys []types.NamespacedName, do func(context.Context, types.NamespacedName) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(connections)
	for _, key := range keys {
		group.Go(func() error {
			w.slots <- struct{}{}
			defer func() { <-w.slots }()
			if err := do(ctx, key); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// create creates a resource, as its user does, and what the ideal client makes of that.
func (w *world) create(ctx context.Context, key types.NamespacedName) error {
	owner, err := w.kind.manifest(key, 1)
	if err != nil {
		return err
	}
	if err := w.user.Create(ctx, owner); err != nil || w.ideal == nil {
		return err
	}
	return w.ideal.create(ctx, owner)
}

// warm gets a new cluster, and the operator in it, used to the work, and returns a resource that is as it should be.
func (w *world) warm(ctx context.Context) (types.NamespacedName, error) {
	var keys []types.NamespacedName
	for i := range warmUps {
		keys = append(keys, types.NamespacedName{Namespace: warmUp, Name: fmt.Sprintf("template-%05d", i)})
	}
	right := w.observer.when(func() bool {
		return !slices.ContainsFunc(keys, func(key types.NamespacedName) bool {
			s := w.observer.resources[key]
			return s == nil || !s.right
		})
	})
	if err := w.each(ctx, keys, w.create); err != nil {
		return keys[0], err
	}
	if _, err := w.observer.await(ctx, "the first resources' status is right", right); err != nil {
		return keys[0], err
	}
	_, err := w.audit.untilQuiet(ctx)
	return keys[0], err
}

func (w *world) createAll(ctx context.Context) (*Phase, error) {
	return w.measure(ctx, func(p *Phase) error { return w.allAtOnce(ctx, p, w.create) })
}

// scaleAll scales all resources to 2 Pods.
func (w *world) scaleAll(ctx context.Context) (*Phase, error) {
	w.observer.expect(2)
	return w.measure(ctx, func(p *Phase) error {
		return w.allAtOnce(ctx, p, func(ctx context.Context, key types.NamespacedName) error {
			owner := w.kind.empty(key)
			err := w.user.Patch(ctx, owner, client.RawPatch(types.MergePatchType, w.kind.scaling(2)))
			if err != nil || w.ideal == nil {
				return err
			}
			return w.ideal.applyChild(ctx, owner, deployment)
		})
	})
}

// allAtOnce does something to all resources, and waits for what becomes of it.
func (w *world) allAtOnce(ctx context.Context, p *Phase, do func(context.Context, types.NamespacedName) error) error {
	ready := w.observer.when(func() bool { return w.observer.ready == w.count })
	right := w.observer.when(func() bool { return w.observer.right == w.count })
	began := time.Now()
	if err := w.each(ctx, names(w.count), do); err != nil {
		return err
	}
	at, err := w.observer.await(ctx, "all Pods are ready", ready)
	if err != nil {
		return err
	}
	p.PodsReady = at.Sub(began).Seconds()
	at, err = w.observer.await(ctx, "every status is right", right)
	p.StatusRight = at.Sub(began).Seconds()
	return err
}

// idle waits for idleWindow.
func (w *world) idle(ctx context.Context) (*Phase, error) {
	return w.measure(ctx, func(*Phase) error {
		select {
		case <-time.After(idleWindow):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// healAll deletes a sample of the Deployments, each when the one before has been dealt with.
func (w *world) healAll(ctx context.Context) (*Phase, error) {
	return w.measure(ctx, func(p *Phase) error {
		keys := sample(names(w.count), healSample)
		var healed, right []time.Duration
		for _, key := range keys {
			h, r, err := w.heal(ctx, key)
			if err != nil {
				return err
			}
			healed, right = append(healed, h), append(right, r)
		}
		p.Resources, p.Healed, p.HealedStatus = len(keys), quantiles(healed), quantiles(right)
		return nil
	})
}

func (w *world) heal(ctx context.Context, key types.NamespacedName) (healed, right time.Duration, err error) {
	owner := w.kind.empty(key)
	if err := w.user.Get(ctx, key, owner); err != nil {
		return 0, 0, err
	}
	s, old := w.observer.stateOf(key)
	isNew := func() bool { return s.deployment != old && s.deployment != "" }
	newOne := w.observer.when(isNew)
	statusRight := w.observer.when(func() bool { return isNew() && s.right })
	tidy := w.observer.when(func() bool { return isNew() && s.right && s.tidy() })

	began := time.Now()
	if err := w.deleteDeployment(ctx, key); err != nil {
		return 0, 0, err
	}
	if w.ideal != nil {
		if err := w.ideal.applyChild(ctx, owner, deployment); err != nil {
			return 0, 0, err
		}
	}
	at, err := w.observer.await(ctx, "a new Deployment is there", newOne)
	if err != nil {
		return 0, 0, err
	}
	healed = at.Sub(began)
	if at, err = w.observer.await(ctx, "the status tells of the new Pods", statusRight); err != nil {
		return 0, 0, err
	}
	right = at.Sub(began)
	_, err = w.observer.await(ctx, "the old Pods are gone", tidy)
	return healed, right, err
}

func (w *world) deleteDeployment(ctx context.Context, key types.NamespacedName) error {
	object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	return w.user.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground))
}

// restart stops the operator, deletes some Deployments, and starts it again. Requests about those are left out.
func (w *world) restart(ctx context.Context) (*Phase, error) {
	if err := w.stopOperator(); err != nil {
		return nil, err
	}
	probes := sample(names(w.count), startProbes)
	for _, key := range probes {
		s, _ := w.observer.stateOf(key)
		gone := w.observer.when(func() bool { return s.deployment == "" && s.tidy() })
		if err := w.deleteDeployment(ctx, key); err != nil {
			return nil, err
		}
		if _, err := w.observer.await(ctx, "a deleted Deployment's Pods are gone", gone); err != nil {
			return nil, err
		}
	}
	if _, err := w.audit.untilQuiet(ctx); err != nil {
		return nil, err
	}
	healed := w.observer.when(func() bool {
		return !slices.ContainsFunc(probes, func(key types.NamespacedName) bool { return w.observer.resources[key].deployment == "" })
	})
	right := w.observer.when(func() bool { return w.observer.right == w.count })

	return w.measure(ctx, func(p *Phase) error {
		p.leftOut = probes
		began := time.Now()
		if err := w.startOperator(ctx); err != nil {
			return err
		}
		at, err := w.observer.await(ctx, "the new operator has repaired what was deleted", healed)
		if err != nil {
			return err
		}
		p.Repaired = at.Sub(began).Seconds()
		at, err = w.observer.await(ctx, "every status is right after a start", right)
		p.StatusRight = at.Sub(began).Seconds()
		return err
	})
}

// isAbout tells whether a request is about one of the resources or what belongs to it, whose name begins with its name.
func isAbout(e auditv1.Event, keys []types.NamespacedName) bool {
	return slices.ContainsFunc(keys, func(key types.NamespacedName) bool {
		return e.ObjectRef.Namespace == key.Namespace && strings.HasPrefix(e.ObjectRef.Name, key.Name)
	})
}

// startOperator starts the operator's binary with the identity of its ServiceAccount.
func (w *world) startOperator(ctx context.Context) error {
	config, err := w.identity(ctx, operatorAccount)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(w.folder(), "operator.kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, config); err != nil {
		return err
	}
	w.started++
	p, err := startProcess(filepath.Join(w.folder(), operatorProgram), kubeconfig, filepath.Join(w.logs, fmt.Sprintf("operator-%d-%d.log", w.count, w.started)))
	if err != nil {
		return err
	}
	w.operator = p
	go func() {
		<-p.ended
		if !p.stopping.Load() {
			w.fail(fmt.Errorf("the operator has ended by itself: %s: see %s", p.command.ProcessState, p.log))
		}
	}()
	return nil
}

func (w *world) stopOperator() error {
	stopped := w.operator
	w.operator = nil
	return stopped.stop()
}
