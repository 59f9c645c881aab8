package scenarioyaml

import (
	"bytes"
	"slices"

	"go.yaml.in/yaml/v3"
)

// merge replaces YAML's merge keys (<<) by the keys that they stand for, so that a key beside one may override it. The
// strict decoder takes that for a key that occurs twice. A text without merge keys stays as it is.
func merge(text []byte) ([]byte, error) {
	if !bytes.Contains(text, []byte("<<")) {
		return text, nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	mergeIn(&document)
	return yaml.Marshal(&document)
}

// mergeIn replaces the merge keys of a node and of those in it.
func mergeIn(node *yaml.Node) {
	for _, child := range node.Content {
		mergeIn(child)
	}
	if node.Kind != yaml.MappingNode {
		return
	}
	var own, merged []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Tag == "!!merge" {
			merged = append(merged, sources(value)...)
		} else {
			own = append(own, key, value)
		}
	}
	for _, source := range merged {
		for i := 0; i+1 < len(source.Content); i += 2 {
			if !hasKey(own, source.Content[i].Value) {
				own = append(own, copyOf(source.Content[i]), copyOf(source.Content[i+1]))
			}
		}
	}
	node.Content = own
}

// sources are the mappings that a merge key names: one or a list, each here or by an alias.
func sources(value *yaml.Node) []*yaml.Node {
	switch value.Kind {
	case yaml.AliasNode:
		return sources(value.Alias)
	case yaml.SequenceNode:
		var all []*yaml.Node
		for _, element := range value.Content {
			all = append(all, sources(element)...)
		}
		return all
	default:
		return []*yaml.Node{value}
	}
}

func hasKey(content []*yaml.Node, key string) bool {
	for i := 0; i < len(content); i += 2 {
		if content[i].Value == key {
			return true
		}
	}
	return false
}

// copyOf copies a node without anchors, which may exist only once, and with what aliases stand for in their place.
func copyOf(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return copyOf(node.Alias)
	}
	copied := *node
	copied.Anchor = ""
	copied.Content = slices.Clone(node.Content)
	for i, child := range copied.Content {
		copied.Content[i] = copyOf(child)
	}
	return &copied
}
