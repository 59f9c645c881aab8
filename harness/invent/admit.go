package invent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/scenario"
)

// RefusedError is returned if the API server rejects a sample.
type RefusedError struct{ error }

// admit uses a dry run to check that the API server accepts a sample.
func admit(ctx context.Context, explorer *explore.Explorer, namespace string, sample project.Sample) error {
	for _, object := range append(slices.Clone(sample.Others), sample.Resource) {
		tried := object.DeepCopy()
		if namespaced, err := explorer.Options.Environment.ControlPlane.Client.IsObjectNamespaced(tried); namespaced || err != nil {
			tried.SetNamespace(namespace)
		}
		err := explorer.Options.Environment.ControlPlane.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(tried), client.FieldOwner(scenario.User), client.DryRunAll)
		if err := refusal(err); err != nil {
			return err
		}
	}
	return nil
}

// refusal returns a RefusedError if the API server rejects a sample. Samples that need conversion are not checked,
// because the operator, which serves the conversion webhook, is not running yet.
func refusal(err error) error {
	if err == nil || strings.Contains(err.Error(), "conversion webhook for ") {
		return nil
	}
	return RefusedError{fmt.Errorf("the API server rejects it: %w: correct it, or pass other samples with --sample", err)}
}
