package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/test/harness/project"
	"github.com/operator-assay/assay/test/harness/webhook"
)

// crds are the CRDs: those that are named, or those that are installed.
func (s *subject) crds() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	if len(s.catalogue.CRDs) > 0 || s.install == nil {
		return project.ReadCRDs(s.catalogue.CRDs...)
	}
	return s.install.CRDs, nil
}

// checkCRDs rejects named CRDs that want a webhook: where it is, only manifests tell.
func (s *subject) checkCRDs(context.Context) error {
	crds, err := s.crds()
	if err != nil {
		return usagef("--crds: %w", err)
	}
	for _, crd := range crds {
		if len(s.catalogue.CRDs) > 0 && project.HasConversion(crd) {
			return usagef("--crds: the webhook that converts %s is found only by the manifests that install it: name them with --install, and no CRDs", crd.Name)
		}
	}
	return nil
}

// crdFiles are the files from which a control plane installs the CRDs. It reaches conversion webhooks by the router.
func (s *subject) crdFiles(webhooks *webhook.Router) ([]string, error) {
	if len(s.catalogue.CRDs) > 0 || s.install == nil {
		return s.catalogue.CRDs, nil
	}
	crds := s.install.CRDs
	if webhooks != nil {
		crds = s.install.ServedCRDs(webhooks.ConversionURL, webhooks.CA)
	}
	folder, err := os.MkdirTemp(s.folder, "crds-")
	if err != nil {
		return nil, err
	}
	var files []string
	for i, crd := range crds {
		document := *crd // the original is read elsewhere
		document.APIVersion, document.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
		text, err := yaml.Marshal(document)
		if err != nil {
			return nil, err
		}
		file := filepath.Join(folder, fmt.Sprintf("%d.yaml", i))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}
