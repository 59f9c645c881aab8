package specgen

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is the field owner of what Admitted applies.
const fieldOwner = client.FieldOwner("assay-specs")

// Admitted asks an API server which transitions it admits, by CEL rules and admission too. It returns those, and an
// error for each of the others. It tries them on resources like the given one, whose name is the prefix of theirs.
// The spec that a transition starts from is created, the one that it leads to is tried by a dry run, and everything
// is deleted before Admitted returns. So call it before an operator runs, or where none watches. An error that is no
// rejection, such as a missing permission, ends the call.
func Admitted(ctx context.Context, api client.Client, like *unstructured.Unstructured, transitions []Transition) (admitted []Transition, refused []error, err error) {
	starts := map[string]*startingResource{}
	defer func() {
		for _, s := range starts {
			if s.rejection == nil {
				err = errors.Join(err, api.Delete(context.WithoutCancel(ctx), s.resource))
			}
		}
	}()
	for _, t := range transitions {
		key := keyOf(t.From)
		if starts[key] == nil {
			s := &startingResource{resource: withSpec(like, fmt.Sprintf("%s-%d", like.GetName(), len(starts)), t.From)}
			if s.rejection = apply(ctx, api, s.resource); s.rejection != nil && !isRejection(s.rejection) {
				return nil, nil, s.rejection
			}
			starts[key] = s
		}
		from := starts[key]
		fault := from.rejection
		if fault == nil {
			fault = apply(ctx, api, withSpec(like, from.resource.GetName(), t.To), client.DryRunAll)
		}
		switch {
		case fault == nil:
			admitted = append(admitted, t)
		case isRejection(fault):
			refused = append(refused, fmt.Errorf("%s: %w", t, fault))
		default:
			return nil, nil, fault
		}
	}
	return admitted, refused, nil
}

// startingResource is a resource with the spec that transitions start from.
type startingResource struct {
	resource  *unstructured.Unstructured
	rejection error
}

func withSpec(like *unstructured.Unstructured, name string, spec map[string]any) *unstructured.Unstructured {
	resource := like.DeepCopy()
	resource.SetName(name)
	resource.Object[specField] = asObject(spec)
	return resource
}

func apply(ctx context.Context, api client.Client, resource *unstructured.Unstructured, options ...client.ApplyOption) error {
	options = append(options, fieldOwner, client.ForceOwnership)
	return api.Apply(ctx, client.ApplyConfigurationFromUnstructured(resource.DeepCopy()), options...)
}

// isRejection tells whether an API server has validated a resource and rejected it. A webhook's denial differs from a
// missing permission only by its message.
func isRejection(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsForbidden(err) && strings.Contains(err.Error(), "denied")
}
