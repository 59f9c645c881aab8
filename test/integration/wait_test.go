package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/wait"
)

// newSuiteHistory watches Namespaces, Events and all namespaced kinds until the suite ends.
func newSuiteHistory(ctx context.Context) *record.History {
	GinkgoHelper()
	kinds, _, err := resources.Kinds()
	Expect(err).NotTo(HaveOccurred())
	watched := append(slices.Collect(maps.Values(kinds)),
		corev1.SchemeGroupVersion.WithKind("Namespace"), eventsv1.SchemeGroupVersion.WithKind("Event"))
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	DeferCleanup(stop)
	history, err := record.NewHistory(watching, plane.Client, metav1.NamespaceAll, watched...)
	Expect(err).NotTo(HaveOccurred())
	return history
}

// waitFor calls read immediately and after each change to an object, until the result matches. If the wait times out,
// the spec fails with the matcher's message for the last result. Use Eventually for states that are not stored in the
// API server.
func waitFor[T any](ctx context.Context, read func(context.Context) (T, error), matcher types.GomegaMatcher, description ...any) {
	GinkgoHelper()
	waitWithin(ctx, timeout, read, matcher, description...)
}

func waitWithin[T any](ctx context.Context, limit time.Duration, read func(context.Context) (T, error), matcher types.GomegaMatcher, description ...any) {
	GinkgoHelper()
	if err := history.WaitFor(ctx, metav1.NamespaceAll, limit, wait.Match(read, matcher)); err != nil {
		about := ""
		if len(description) > 0 {
			about = fmt.Sprintf(description[0].(string), description[1:]...) + ": "
		}
		Fail(about + err.Error())
	}
}

func exists(object client.Object) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		return err == nil, client.IgnoreNotFound(err)
	}
}
