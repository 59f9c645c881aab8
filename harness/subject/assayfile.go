package subject

import (
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

// Settings returns the text of a settings file with these scenarios, with the settings that flags gave or conventions found.
func (s *Subject) Settings(documents []scenarioyaml.Document) ([]byte, error) {
	settings := s.catalogue.Settings
	settings.Samples = nil // the scenarios take their place
	text, err := yaml.Marshal(struct {
		scenarioyaml.Settings
		CRDs      []string                `json:"crds,omitempty"`
		Role      []string                `json:"role,omitempty"`
		Scenarios []scenarioyaml.Document `json:"scenarios"`
	}{settings, s.options.CRDs, s.options.Roles, documents})
	return append([]byte("# yaml-language-server: $schema="+scenarioyaml.SchemaURL+"\n# Settings and scenarios of assay explore.\n"), text...), err
}
