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

const fieldOwner = client.FieldOwner("assay-specs")

// Admitted returns the transitions that an API server admits, and an error for each transition that it rejects. Unlike
// the schema, the API server also evaluates CEL rules and runs admission.
//
// Admitted creates a copy of the given resource for each initial spec, and updates it to the final spec with a dry run.
// The names of the copies start with the name of the resource. They are deleted before Admitted returns. Make sure that
// no operator is watching them. Errors other than rejections, such as a missing permission, are returned as err.
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

// startingResource is the resource for an initial spec. If the API server rejected it, rejection is the reason.
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

// isRejection reports whether err means that the API server rejected the resource. A denial by a webhook and a missing
// permission are both Forbidden and differ only in the message.
func isRejection(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsForbidden(err) && strings.Contains(err.Error(), "denied")
}
