package integration

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/test/fixtures/mutants/schemata"
)

// judgesTheRun labels what judges all that was done before, or runs a binary: it says nothing of one mutant.
const judgesTheRun = "judges-the-run"

// mutantTask is what scripts/mutants has this process do, if it has started it. Then the operator has many mutants, of
// which those are active that a spec is tried on, and Ginkgo repeats each spec until it has been tried on all.
var mutantTask = schemata.ReadTask()

// This must come before what other files have before each spec, so that it comes behind all that they have after it: what
// is checked there, such as the log, is a spec's outcome, too. Go initializes variables in the order of the files' names, if
// they depend on none of a later file; so what it calls is set afterwards.
var (
	beginSpec func(SpecContext)
	_         = mutantTask != nil && BeforeEach(func(ctx SpecContext) { beginSpec(ctx) })
)

func init() {
	if mutantTask == nil {
		return
	}
	timeout = mutantTask.Timeout
	if beginSpec = learnWhatIsReached; len(mutantTask.Mutants) > 0 {
		turns := &schemata.Turns{Task: mutantTask}
		beginSpec = func(ctx SpecContext) { tryNextMutants(ctx, turns) }
	}
}

// specsSeen counts the specs.
var specsSeen int

// learnWhatIsReached has the spec tell which mutants it reaches, from the operator's start to its end.
func learnWhatIsReached(ctx SpecContext) {
	skipWhatJudgesTheRun()
	if specsSeen++; mutantTask.Parts > 0 && specsSeen%mutantTask.Parts != mutantTask.Part {
		Skip("another process runs it")
	}
	begin := time.Now()
	Expect(assay.Stop()).To(Succeed())
	schemata.TakeReached()
	DeferCleanup(func() {
		Expect(assay.Stop()).To(Succeed())
		state := "passed"
		if CurrentSpecReport().Failed() {
			state = "failed"
		}
		mutantTask.Tell(schemata.Event{Spec: CurrentSpecReport().FullText(), State: state, Message: CurrentSpecReport().FailureMessage(),
			Took: time.Since(begin), Reached: schemata.TakeReached()})
	})
	removeLeftovers(ctx)
	Expect(assay.Start(ctx)).To(Succeed())
}

// tryNextMutants runs the spec on the mutants whose turn it is. Whatever comes of it, it ends with a failure, after which
// Ginkgo tries again.
func tryNextMutants(ctx SpecContext, turns *schemata.Turns) {
	skipWhatJudgesTheRun()
	choice, more := turns.Next(CurrentSpecReport().FullText())
	if !more {
		Skip("no mutant is left that it reaches")
	}
	Expect(assay.Stop()).To(Succeed())
	assay.interrupt.Store(nil)
	assay.refused.Store(nil)
	DeferCleanup(func() {
		err := assay.Stop()
		schemata.Activate(schemata.Choice{})
		report := CurrentSpecReport()
		switch {
		case report.Failed():
			turns.Done(true, report.Failure.Message)
		case err != nil:
			turns.Done(true, "it does not stop: "+err.Error())
		default:
			turns.Done(false, "")
		}
		Fail("it is tried on other mutants")
	})
	removeLeftovers(ctx)
	Expect(os.Setenv(schemata.ActiveEnv, choice.String())).To(Succeed())
	schemata.Activate(choice)
	starting, cancel := context.WithTimeout(ctx, 3*mutantTask.Timeout)
	defer cancel()
	Expect(assay.Start(starting)).To(Succeed())
}

func skipWhatJudgesTheRun() {
	if slices.Contains(CurrentSpecReport().Labels(), judgesTheRun) {
		Skip("it says nothing of one mutant")
	}
}

// removeLeftovers deletes what specs leave behind, which each start of the operator would see to.
func removeLeftovers(ctx context.Context) {
	GinkgoHelper()
	for _, list := range []client.ObjectList{
		&webserverv1.WebServerList{}, &memcachedv1alpha1.MemcachedList{}, &appsv1.DeploymentList{}, &corev1.ServiceList{},
	} {
		Expect(plane.Client.List(ctx, list)).To(Succeed())
		objects, err := meta.ExtractList(list)
		Expect(err).NotTo(HaveOccurred())
		for _, found := range objects {
			object := found.(client.Object)
			if !strings.HasPrefix(object.GetNamespace(), "spec-") {
				continue
			}
			if len(object.GetFinalizers()) > 0 {
				bare := object.DeepCopyObject().(client.Object)
				bare.SetFinalizers(nil)
				_ = plane.Client.Patch(ctx, bare, client.MergeFrom(object)) // or it is gone
			}
			_ = client.IgnoreNotFound(plane.Client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground)))
		}
	}
}
