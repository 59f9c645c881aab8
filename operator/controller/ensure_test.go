package controller

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/operator/api/workload"
)

func TestRefusalTellsWhatPassesFromWhatLasts(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	terminating := apierrors.NewForbidden(deployments, "web", errors.New("the namespace is going"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, test := range map[string]struct {
		err            error
		reason         string
		watched, lasts bool
	}{
		"the namespace is going": {terminating, workload.ReasonWaitingForDeletion, true, false},
		"a quota":                {apierrors.NewForbidden(deployments, "web", errors.New("exceeded quota")), workload.ReasonRejected, false, true},
		"an invalid field":       {apierrors.NewInvalid(schema.GroupKind{}, "web", nil), workload.ReasonRejected, false, true},
		"a webhook's denial":     {apierrors.NewBadRequest("denied"), workload.ReasonRejected, false, true},
		"a webhook that is down": {apierrors.NewInternalError(errors.New("no answer")), workload.ReasonRejected, false, true},
		"a conflict":             {apierrors.NewConflict(deployments, "web", errors.New("changed")), workload.ReasonRetrying, false, false},
		"a lost connection":      {errors.New("connection reset"), workload.ReasonRetrying, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := refusal(&child{kind: "Deployment", object: &appsv1.Deployment{}}, test.err)
			if got.reason != test.reason || got.watched != test.watched || got.lasting() != test.lasts {
				t.Errorf("got %+v, lasting %t", got, got.lasting())
			}
		})
	}
	if refusal(&child{}, nil) != nil {
		t.Error("no error is no obstacle")
	}
}

func TestANoteFitsIntoAnEvent(t *testing.T) {
	short := strings.Repeat("ü", maxNote/len("ü"))
	if truncate(short) != short {
		t.Error("what fits is cut")
	}
	for _, long := range []string{short + "!", "!" + short, strings.Repeat("x", 10*maxNote)} {
		if cut := truncate(long); len(cut) > maxNote || len(cut) < maxNote-len("ü…") || !strings.HasSuffix(cut, "…") || !utf8.ValidString(cut) {
			t.Errorf("%d bytes became %d: %q", len(long), len(cut), cut)
		}
	}
}
