package subject

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/webhook"
)

// crds returns the CRDs from the --crds files, or from the manifests if --crds is not set.
func (s *Subject) crds() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	if len(s.catalogue.CRDs) > 0 || s.install == nil {
		return project.ReadCRDs(s.catalogue.CRDs...)
	}
	return s.install.CRDs, nil
}

// checkCRDs rejects CRD files with a conversion webhook, because only the manifests contain the webhook's Service.
func (s *Subject) checkCRDs(context.Context) error {
	crds, err := s.crds()
	if err != nil {
		return inputErrorf("--crds: %w", err)
	}
	for _, crd := range crds {
		if len(s.catalogue.CRDs) > 0 && project.HasConversion(crd) {
			return inputErrorf("--crds: %s has a conversion webhook, which is described only in the manifests: use --install instead of --crds", crd.Name)
		}
	}
	return nil
}

// crdOptions returns the options for installing the CRDs in a control plane. Conversion webhooks are called through
// the router.
func (s *Subject) crdOptions(webhooks *webhook.Router) controlplane.Options {
	if len(s.catalogue.CRDs) > 0 || s.install == nil {
		return controlplane.Options{CRDs: s.catalogue.CRDs}
	}
	if webhooks != nil {
		return controlplane.Options{Definitions: s.install.ServedCRDs(webhooks.ConversionURL, webhooks.CA)}
	}
	return controlplane.Options{Definitions: s.install.CRDs}
}
