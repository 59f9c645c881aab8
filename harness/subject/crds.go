package subject

import (
	"context"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/webhook"
)

// readCRDs reads the CRDs in the --crds files, or uses those in the manifests if --crds is not set. It rejects CRD files
// with a conversion webhook, because only the manifests contain the webhook's Service.
func (s *Subject) readCRDs(context.Context) (err error) {
	if len(s.catalogue.CRDs) == 0 && s.install != nil {
		s.crds = s.install.CRDs
		return nil
	}
	if s.crds, err = project.ReadCRDs(s.catalogue.CRDs...); err != nil {
		return inputErrorf("--crds: %w", err)
	}
	for _, crd := range s.crds {
		if project.HasConversion(crd) {
			return inputErrorf("--crds: %s has a conversion webhook, which is described only in the manifests: use --install instead of --crds", crd.Name)
		}
	}
	return nil
}

// crdOptions returns the options for installing the CRDs in a control plane. Conversion webhooks are called through
// the router.
func (s *Subject) crdOptions(webhooks *webhook.Router) controlplane.Options {
	if webhooks != nil && len(s.catalogue.CRDs) == 0 {
		return controlplane.Options{Definitions: s.install.ServedCRDs(webhooks.ConversionURL, webhooks.CA)}
	}
	return controlplane.Options{Definitions: s.crds}
}
