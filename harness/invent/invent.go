// Package invent makes up scenarios for an operator from samples of its resources and the schemas of their CRDs, so
// that it can be explored before anybody has written a scenario:
//
//	running := explorer.Start(ctx, fault.Categories...)
//	invented, err := invent.Scenarios(ctx, explorer, samples, func(i invent.Scenario) error {
//		return running.Add(i.Scenario) // i.About says what it does
//	})
//
// A sample is created, changed in each field to which the operator reacts, and back, deleted, and deleted and created
// again; and a child of each kind that the operator creates is deleted. Each action waits until nothing moves any more.
// No scenario asserts anything: what comes out without a fault is what has to come out under faults.
//
// What the operator does is learnt by playing every scenario once. So a scenario that does not converge, a field to
// which the operator does not react, and a child that it does not create again are left out, and Left says so.
package invent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

// Invented are the scenarios for all samples.
type Invented struct {
	Scenarios []Scenario
	// Left are lines about what was left out, and why.
	Left []string
	// Notes are lines about samples that are out of date, and about what keeps the operator from working.
	Notes []string
}

// Scenario is an invented scenario.
type Scenario struct {
	scenario.Scenario
	Document scenarioyaml.Document
	// About says what it does, in a few words.
	About string
}

// Scenarios invents scenarios for samples, and gives each to found as soon as it is worth keeping, in the same order each time. If
// names are given, only scenarios of these names are kept, and less has to be tried. It returns an error if every sample is
// refused by the API server or does not converge, and that of found.
func Scenarios(ctx context.Context, explorer *explore.Explorer, samples []project.Sample, found func(Scenario) error, names ...string) (*Invented, error) {
	namespace, err := explorer.ControlPlane.CreateNamespace(ctx, "samples")
	if err != nil {
		return nil, err
	}
	invented := &Invented{}
	var failed error // the first one
	prefixes := prefixes(samples)
	for i, sample := range samples {
		unknown, err := prune(sample)
		if len(unknown) > 0 {
			invented.Notes = append(invented.Notes, fmt.Sprintf("%s: its CRD does not have %s, which is left out", sample.File, strings.Join(unknown, ", ")))
		}
		if err == nil {
			err = admit(ctx, explorer, namespace, sample)
		}
		if err == nil {
			subject := subject{explorer: explorer, sample: sample, prefix: prefixes[i],
				fields: max(minTriedFields, maxTriedFields/len(samples)), names: names, invented: invented, found: found}
			err = subject.invent(ctx)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
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

// RefusedError says that the API server refuses a sample, and what to do.
type RefusedError struct{ error }

// admit asks the API server whether it takes a sample.
func admit(ctx context.Context, explorer *explore.Explorer, namespace string, sample project.Sample) error {
	for _, object := range append(slices.Clone(sample.Others), sample.Resource) {
		tried := object.DeepCopy()
		if namespaced, err := explorer.ControlPlane.Client.IsObjectNamespaced(tried); namespaced || err != nil {
			tried.SetNamespace(namespace)
		}
		err := explorer.ControlPlane.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(tried), client.FieldOwner("assay-user"), client.DryRunAll)
		if err != nil {
			return RefusedError{fmt.Errorf("the API server refuses it: %w: correct it, or name other samples with --sample", err)}
		}
	}
	return nil
}

// prefixes are how the names of each sample's scenarios begin: with the kind; if other samples have it too, with the kind and
// the name; and if an earlier one begins so too, with a number besides.
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

// subject is a sample for which scenarios are invented.
type subject struct {
	explorer *explore.Explorer
	sample   project.Sample
	prefix   string
	fields   int // that are tried at the most
	names    []string
	invented *Invented
	found    func(Scenario) error
}

// wanted tells whether a scenario is to be returned.
func (s subject) wanted(name string) bool {
	return len(s.names) == 0 || slices.Contains(s.names, name)
}

// notTaken is an error of who was given a scenario.
type notTaken struct{ error }

// keep adds a scenario to those that were invented. Its reference begins with what was observed.
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

// invent adds the subject's scenarios.
func (s subject) invent(ctx context.Context) error {
	create := s.document("create", s.created()...)
	observed, err := s.observe(ctx, create)
	if err != nil {
		return err
	}
	if len(observed.Refused) > 0 {
		s.invented.Notes = append(s.invented.Notes, fmt.Sprintf("%s: the API server refuses some of the operator's requests (%s): a permission may be missing, or a field that a webhook sets",
			s.sample.File, strings.Join(observed.Refused, "; ")))
	}
	if s.wanted(create.Name) {
		if err := s.keep(Scenario{Document: create, About: "create " + s.sample.File}, observed); err != nil {
			return err
		}
	}
	resource := s.sample.Resource
	remove := []step{deleteStep(resource.GetAPIVersion(), resource.GetKind(), resource.GetName()), converged()}
	candidates := append(s.deletions(observed),
		candidate{Scenario: Scenario{Document: s.document("delete", slices.Concat(s.created(), remove)...), About: "delete it"}},
		candidate{Scenario: Scenario{Document: s.document("recreate", slices.Concat(s.created(), remove, []step{applyStep(resource), converged()})...), About: "delete it, and create it again"}})
	candidates = append(candidates, s.changes()...)
	return s.try(ctx, slices.DeleteFunc(candidates, func(c candidate) bool { return !s.wanted(c.Document.Name) }))
}

// observe plays a document's scenario.
func (s subject) observe(ctx context.Context, document scenarioyaml.Document) (explore.Observation, error) {
	parsed, err := scenarioyaml.Parse(document)
	if err != nil {
		return explore.Observation{}, err
	}
	return s.explorer.Observe(ctx, parsed[0])
}

// Documents are the scenarios as a file has them.
func (i *Invented) Documents() []scenarioyaml.Document {
	var documents []scenarioyaml.Document
	for _, invented := range i.Scenarios {
		documents = append(documents, invented.Document)
	}
	return documents
}

// step is a step of a document.
type step = map[string]map[string]any

func (s subject) document(name string, steps ...step) scenarioyaml.Document {
	return scenarioyaml.Document{Name: s.prefix + "/" + name, Steps: steps}
}

// created are the steps that create the sample.
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
