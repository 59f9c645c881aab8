package subject

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/webhook"
)

// readCRDs reads the CRDs in the --crds files, or uses those in the manifests if --crds is not set. It rejects CRD
// files with a conversion webhook, because only the manifests contain the webhook's Service.
func (s *Subject) readCRDs(context.Context) (err error) {
	if len(s.catalogue.CRDs) == 0 && s.install != nil {
		s.crds = s.install.CRDs
		return nil
	}
	field := "--crds"
	if len(s.options.CRDs) == 0 {
		field = s.file + ": crds"
	}
	if s.crds, err = project.ReadCRDs(s.catalogue.CRDs...); err != nil {
		return inputErrorf("%s: %w", field, err)
	}
	for _, crd := range s.crds {
		if project.HasConversion(crd) {
			return inputErrorf("%s: %s has a conversion webhook, which is described only in the manifests: use --install instead", field, crd.Name)
		}
	}
	return nil
}

// crdOptions returns the options for installing the CRDs. Conversion webhooks are called through the router.
func (s *Subject) crdOptions(webhooks *webhook.Router) controlplane.Options {
	if webhooks != nil && len(s.catalogue.CRDs) == 0 {
		return controlplane.Options{Definitions: s.install.ServedCRDs(webhooks.ConversionURL, webhooks.CA)}
	}
	return controlplane.Options{Definitions: s.crds}
}

// readSamples reads the samples for deriving scenarios. It does nothing if the user has written scenarios.
func (s *Subject) readSamples(context.Context) (err error) {
	c := s.catalogue
	if len(c.Scenarios) > 0 || s.hasTests() {
		return nil
	}
	if len(s.crds) == 0 {
		from, advice := cmp.Or(strings.Join(c.CRDs, ", "), c.Install, "the project"), "pass CRDs with --crds, or a scenario file with --scenarios"
		if from == "-" {
			from, advice = "standard input", "add --include-crds to helm template, "+advice
		}
		return inputErrorf("%s contains no CRDs, so the kinds of the operator are unknown: %s", from, advice)
	}
	field := "--sample"
	if len(s.options.Samples) == 0 && len(c.Samples) > 0 {
		field = s.file + ": samples"
	}
	var looked []string
	if len(c.Samples) == 0 {
		for _, folder := range s.folders {
			samples := filepath.Join(folder, project.DefaultSamples)
			if _, err := os.Stat(samples); len(c.Samples) == 0 && err == nil {
				c.Samples = []string{samples}
			}
			samples, _ = filepath.Abs(samples) // fails only without a working directory
			looked = append(looked, samples)
		}
	}
	const advice = "sample resources with --sample%s, or a scenario file with --scenarios"
	if len(c.Samples) == 0 {
		return inputErrorf("no samples in %s: pass "+advice, strings.Join(looked, ", "), s.otherSamples())
	}
	if s.samples, s.notes, err = project.ReadSamples(s.crds, c.Samples...); err != nil && looked != nil {
		return inputErrorf("%w, or pass sample files with --sample", err)
	}
	if err != nil {
		return inputErrorf("%s: %w", field, err)
	}
	if len(s.samples) == 0 {
		var kinds []string
		for _, crd := range s.crds {
			kinds = append(kinds, crd.Spec.Names.Kind)
		}
		return inputErrorf("%s contains no resource of the operator's kinds (%s): pass other CRDs with --crds, "+advice, strings.Join(c.Samples, ", "), strings.Join(kinds, ", "), s.otherSamples())
	}
	return s.noteEmptySamples()
}

// otherSamples returns ", such as " and a list of other folders with samples, or "" if there are none.
func (s *Subject) otherSamples() string {
	if nearby := project.FindSamples(s.options.Folder, s.crds, s.samples); nearby != "" {
		return ", such as " + nearby
	}
	return ""
}

// noteEmptySamples adds a note about samples that set no fields. It returns an error if the API server would reject all
// samples, because their CRDs require fields. If the operator serves webhooks, these may set the fields.
func (s *Subject) noteEmptySamples() error {
	var empty []string
	isUsable := s.install != nil && s.install.HasWebhooks()
	for _, sample := range s.samples {
		if sample.IsEmpty() {
			empty = append(empty, sample.File)
		}
		isUsable = isUsable || !sample.IsEmpty() || !sample.IsIncomplete()
	}
	advice := ""
	if len(empty) == len(s.samples) {
		advice = ": fill them in, or pass others with --sample" + s.otherSamples()
	}
	if !isUsable {
		return inputErrorf("the samples (%s) set no fields, but their CRDs have required fields%s", strings.Join(empty, ", "), advice)
	}
	if len(empty) > 0 {
		s.notes = append(s.notes, "these samples set no fields: "+strings.Join(empty, ", ")+advice)
	}
	return nil
}
