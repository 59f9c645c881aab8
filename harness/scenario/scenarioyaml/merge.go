package scenarioyaml

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// merge replaces YAML's merge keys (<<) by the keys that they stand for, so that a key beside one may override it. The
// strict decoder takes that for a key that occurs twice. A text without merge keys stays as it is.
func merge(text []byte) ([]byte, error) {
	if !bytes.Contains(text, []byte("<<")) {
		return text, nil
	}
	if err := yaml.Unmarshal(text, new(any)); err != nil { // such as an anchor within itself, which has no end below
		return nil, err
	}
	var document merged
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	return yaml.Marshal(document)
}

// merged is a value without merge keys. Its scalars stay as they are written, since version 3 takes some of them, such as
// yes, for something else than the strict decoder.
type merged struct{ value any }

func (m *merged) UnmarshalYAML(node *yaml.Node) error {
	switch node.Kind {
	case yaml.MappingNode:
		m.value = &map[string]merged{}
	case yaml.SequenceNode:
		m.value = &[]*merged{} // a nil is a null
	default:
		m.value = &yaml.Node{}
	}
	return node.Decode(m.value)
}

func (m merged) MarshalYAML() (any, error) { return m.value, nil }
