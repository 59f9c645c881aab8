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

// Admitted asks an API server which transitions it admits, by its rules in CEL and its admission too,
// and returns those, and an error for each of the others. It tries them on resources like the given one,
// whose name is the beginning of theirs. The way to a spec is tried by a dry run, but what it starts
// from has to be there: it is created, and deleted before the call returns. So call it where no operator
// looks, or before one runs. An error that is no refusal, such as a missing permission, ends the matter.
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

// isRejection tells whether an API server has judged a resource and found it wanting. A webhook's denial is
// told from a missing permission by its words alone.
func isRejection(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsForbidden(err) && strings.Contains(err.Error(), "denied")
}
