package subject

import (
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

// Settings returns a settings file that contains the given scenarios and the settings in use, including settings from
// flags and conventions.
func (s *Subject) Settings(documents []scenarioyaml.Document) ([]byte, error) {
	settings := s.catalogue.Settings
	settings.Samples = nil // the file contains the scenarios derived from them
	text, err := yaml.Marshal(struct {
		scenarioyaml.Settings
		CRDs      []string                `json:"crds,omitempty"`
		Role      []string                `json:"role,omitempty"`
		Scenarios []scenarioyaml.Document `json:"scenarios"`
	}{settings, s.options.CRDs, s.options.Roles, documents})
	return append([]byte("# yaml-language-server: $schema="+scenarioyaml.SchemaURL+"\n# Settings and scenarios of assay explore.\n"), text...), err
}
