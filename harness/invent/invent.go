// Package invent derives scenarios for an operator from sample resources and their CRD schemas, so that the operator
// can be explored before anyone has written scenarios for it:
//
//	running := explorer.Start(ctx, fault.Categories...)
//	invented, err := invent.Scenarios(ctx, explorer, samples, func(i invent.Scenario) error {
//		return running.Add(i.Scenario) // i.About describes the scenario
//	})
//
// The scenarios for a sample do the following:
//   - create the sample
//   - change a field to which the operator reacts, and change it back
//   - delete the sample
//   - delete the sample and create it again
//   - delete one child of each kind
//
// After each action, a scenario waits until nothing is changing. It contains no assertions: the state that a fault-free
// run reaches is the expected state for runs under faults.
//
// Every scenario is run once without faults to record how the operator reacts. A scenario is skipped if it does not
// converge, if the operator does not react to the changed field, or if the operator does not recreate the deleted
// child. Invented.Left contains the reasons. If the operator recreates other children but not this one, the child is
// reported with explore.Explorer.AddWithoutFault instead.
package invent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

// Invented holds the scenarios for all samples.
type Invented struct {
	Scenarios []Scenario
	// Left lists the scenarios and fields that were skipped, with the reasons.
	Left []string
	// Notes lists operator requests that the API server rejects, missing APIs, and samples for which the operator writes
	// nothing.
	Notes []string
}

// Scenario is a scenario derived from a sample.
type Scenario struct {
	scenario.Scenario
	Document scenarioyaml.Document
	// About is a short description of the scenario.
	About string
}

// Scenarios derives scenarios from the samples. It calls found for each scenario as soon as it is accepted, always in
// the same order. If names are given, it derives only the scenarios with these names, which is faster. It returns an
// error if found returns one, or if every sample is rejected by the API server or does not converge. If ctx is
// canceled, it returns the scenarios derived so far and the cause.
func Scenarios(ctx context.Context, explorer *explore.Explorer, samples []project.Sample, found func(Scenario) error, names ...string) (*Invented, error) {
	namespace, err := explorer.Options.Environment.ControlPlane.CreateNamespace(ctx, "samples")
	if err != nil {
		return nil, err
	}
	invented := &Invented{}
	var failed error // the first error
	samples = inOrder(samples)
	prefixes := prefixes(samples)
	for i, sample := range samples {
		err := admit(ctx, explorer, namespace, sample)
		if err == nil {
			subject := subject{explorer: explorer, sample: sample, prefix: prefixes[i],
				fields: max(minTriedFields, maxTriedFields/len(samples)), names: names, invented: invented, found: found}
			err = subject.invent(ctx)
		}
		if ctx.Err() != nil {
			var untried []string
			for _, sample := range samples[i+1:] {
				untried = append(untried, sample.File)
			}
			if len(untried) > 0 {
				invented.Left = append(invented.Left, interrupted+" "+strings.Join(untried, ", "))
			}
			return invented, context.Cause(ctx)
		}
		if refused, is := errors.AsType[notTaken](err); is {
			return nil, refused.error
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", sample.File, err)
			invented.Left = append(invented.Left, err.Error())
			failed = cmp.Or(failed, err)
		}
	}
	if len(invented.Scenarios) == 0 && failed != nil {
		return nil, failed
	}
	return invented, nil
}

// interrupted is the reason for skipping scenarios and samples after ctx was canceled. Their names are appended to it.
const interrupted = "the exploration was interrupted before trying"

// prefixes returns the name prefix for each sample's scenarios. The prefix is the kind. If several samples have the
// same kind, the name is appended. If that is not unique either, a number is appended as well.
func prefixes(samples []project.Sample) []string {
	ofKind := map[string]int{}
	for _, sample := range samples {
		ofKind[sample.Resource.GetKind()]++
	}
	var all []string
	for _, sample := range samples {
		kind := sample.Resource.GetKind()
		plain := strings.ToLower(kind)
		if ofKind[kind] > 1 {
			plain += "-" + sample.Resource.GetName()
		}
		prefix := plain
		for number := 2; slices.Contains(all, prefix); number++ {
			prefix = fmt.Sprintf("%s-%d", plain, number)
		}
		all = append(all, prefix)
	}
	return all
}

type subject struct {
	explorer  *explore.Explorer
	sample    project.Sample
	prefix    string
	fields    int // maximum number of fields to try
	names     []string
	invented  *Invented
	found     func(Scenario) error
	isIgnored bool // the operator writes nothing after the sample is created
}

func (s subject) wanted(name string) bool {
	return len(s.names) == 0 || slices.Contains(s.names, name)
}

type notTaken struct{ error }

// keep adds a scenario to the result. The observation becomes the scenario's first reference run.
func (s subject) keep(kept Scenario, observed explore.Observation) error {
	parsed, err := scenarioyaml.Parse(append(s.invented.Documents(), kept.Document)...)
	if err != nil {
		return notTaken{err}
	}
	kept.Scenario = parsed[len(parsed)-1]
	s.explorer.LearnFrom(kept.Document.Name, observed)
	s.invented.Scenarios = append(s.invented.Scenarios, kept)
	if err := s.found(kept); err != nil {
		return notTaken{err}
	}
	return nil
}

func (s subject) invent(ctx context.Context) error {
	create := s.document("create", s.created()...)
	observed, err := s.observe(ctx, create)
	if invalid, is := errors.AsType[*apierrors.StatusError](err); is && apierrors.IsInvalid(invalid) {
		return refusal(invalid) // without the log of the run
	}
	if err != nil {
		return err
	}
	note := func(format string, args ...any) {
		s.invented.Notes = append(s.invented.Notes, s.sample.File+": "+fmt.Sprintf(format, args...))
	}
	if refused := strings.Join(observed.Refused, "; "); refused != "" {
		advice := ""
		if strings.Contains(refused, "blockOwnerDeletion") {
			advice = "; clusters with the admission plugin OwnerReferencesPermissionEnforcement, such as OpenShift, require the permission to update the owner's finalizers"
		}
		note("the API server rejects some of the operator's requests (%s): the operator may lack a permission, or a webhook that sets a required field may be missing%s", refused, advice)
	}
	if s.isIgnored = !observed.Wrote; s.isIgnored {
		note("the operator wrote nothing after the sample was created, so its scenarios prove little")
	}
	missing := fmt.Sprintf("the operator's log says: %s: if the operator needs these APIs, add their CRDs to the manifests, or pass all CRDs with --crds", strings.Join(observed.MissingAPIs, ", "))
	if len(observed.MissingAPIs) > 0 && !slices.Contains(s.invented.Notes, missing) {
		s.invented.Notes = append(s.invented.Notes, missing)
	}
	if s.wanted(create.Name) {
		if err := s.keep(Scenario{Document: create, About: "create " + s.sample.File}, observed); err != nil {
			return err
		}
	}
	candidates := slices.Concat(s.deletions(observed), s.removals(), s.changes(observed))
	return s.try(ctx, s.play, slices.DeleteFunc(candidates, func(c candidate) bool { return !s.wanted(c.Document.Name) }))
}

// removals returns the candidates that delete the sample's resource. They do not delete its other objects, such as a
// Secret that the operator needs to remove its finalizer.
func (s subject) removals() []candidate {
	resource := s.sample.Resource
	deleted := append(s.created(), deleteStep(resource.GetAPIVersion(), resource.GetKind(), resource.GetName()), converged())
	recreated := slices.Concat(deleted, []step{applyStep(resource), converged()})
	return []candidate{
		{Scenario: Scenario{Document: s.document("delete", deleted...), About: "delete it"}},
		{Scenario: Scenario{Document: s.document("recreate", recreated...), About: "delete it, and create it again"}},
	}
}

func (s subject) observe(ctx context.Context, document scenarioyaml.Document) (explore.Observation, error) {
	parsed, err := scenarioyaml.Parse(document)
	if err != nil {
		return explore.Observation{}, err
	}
	return s.explorer.Observe(ctx, parsed[0])
}

// Documents returns the scenarios in the scenario file format.
func (i *Invented) Documents() []scenarioyaml.Document {
	var documents []scenarioyaml.Document
	for _, invented := range i.Scenarios {
		documents = append(documents, invented.Document)
	}
	return documents
}

type step = map[string]map[string]any

func (s subject) document(name string, steps ...step) scenarioyaml.Document {
	return scenarioyaml.Document{Name: s.prefix + "/" + name, Steps: steps}
}

func (s subject) created() []step {
	var steps []step
	for _, other := range s.sample.Others {
		steps = append(steps, applyStep(other))
	}
	return append(steps, applyStep(s.sample.Resource), converged())
}

func applyStep(object *unstructured.Unstructured) step { return step{"apply": object.Object} }

func deleteStep(apiVersion, kind, name string) step {
	return step{"delete": {"apiVersion": apiVersion, "kind": kind, "name": name}}
}

func converged() step { return step{"converged": {}} }

// RefusedError is returned if the API server rejects a sample.
type RefusedError struct{ error }

// admit uses a dry run to check that the API server accepts a sample. If there are mutating webhooks, admit also
// accepts invalid objects, because the operator that would set missing fields is not running yet.
func admit(ctx context.Context, explorer *explore.Explorer, namespace string, sample project.Sample) error {
	for _, object := range append(slices.Clone(sample.Others), sample.Resource) {
		tried := object.DeepCopy()
		if namespaced, err := explorer.Options.Environment.ControlPlane.Client.IsObjectNamespaced(tried); namespaced || err != nil {
			tried.SetNamespace(namespace)
		}
		plane := explorer.Options.Environment.ControlPlane
		err := plane.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(tried), client.FieldOwner(scenario.User), client.DryRunAll)
		if apierrors.IsInvalid(err) && hasMutatingWebhooks(ctx, plane.Client) {
			continue
		}
		if err := refusal(err); err != nil {
			return err
		}
	}
	return nil
}

// hasMutatingWebhooks reports whether any mutating webhook is configured, even if it is for another kind.
func hasMutatingWebhooks(ctx context.Context, reader client.Reader) bool {
	var configurations admissionregistrationv1.MutatingWebhookConfigurationList
	return reader.List(ctx, &configurations) == nil && len(configurations.Items) > 0
}

// refusal returns err as a RefusedError. It ignores errors from conversion webhooks, which no operator serves yet.
func refusal(err error) error {
	if err == nil || strings.Contains(err.Error(), "conversion webhook for ") {
		return nil
	}
	return RefusedError{fmt.Errorf("the API server rejects the sample: %w: fix it, or pass other samples with --sample", err)}
}
