package scenarioyaml

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// merge expands YAML merge keys (<<), so that other keys can override the merged ones. The strict decoder would
// report the overridden keys as duplicates. Text without merge keys is returned unchanged.
func merge(text []byte) ([]byte, error) {
	if !bytes.Contains(text, []byte("<<")) {
		return text, nil
	}
	if err := yaml.Unmarshal(text, new(any)); err != nil { // detects anchors that contain themselves, which would recurse forever below
		return nil, err
	}
	var document merged
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	return yaml.Marshal(document)
}

// merged is a YAML value without merge keys. Scalars are not decoded, because yaml.v3 interprets some of them, such
// as yes, differently from the strict decoder.
type merged struct{ value any }

func (m *merged) UnmarshalYAML(node *yaml.Node) error {
	switch node.Kind {
	case yaml.MappingNode:
		m.value = &map[string]merged{}
	case yaml.SequenceNode:
		m.value = &[]*merged{} // a nil element represents null
	default:
		m.value = &yaml.Node{}
	}
	return node.Decode(m.value)
}

func (m merged) MarshalYAML() (any, error) { return m.value, nil }
