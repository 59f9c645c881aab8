package scenarioyaml

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// toJSON converts a YAML file with a single document to JSON. It rejects duplicate keys.
func toJSON(text []byte) ([]byte, error) {
	found := []byte("{}")
	for part := range bytes.SplitSeq(bytes.TrimPrefix(text, []byte("---")), []byte("\n---")) {
		document, err := yaml.YAMLToJSONStrict(part)
		switch {
		case err != nil:
			return nil, errors.New(strings.Join(strings.Fields(err.Error()), " ")) // errors are printed on a single line
		case string(document) == "null":
		case len(found) > len("{}"):
			return nil, errors.New("several documents: put all scenarios into a single document")
		default:
			found = document
		}
	}
	return found, nil
}

// decode decodes a JSON document. It rejects unknown fields and decodes integers as int64.
func decode(document []byte, into any) error {
	unknown, err := kjson.UnmarshalStrict(document, into)
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		words := map[string]string{"string": "text", "bool": "true or false", "slice": "a list", "array": "a list", "number": "a number"}
		field := strings.TrimPrefix(mistyped.Field, "Settings.") // Settings is the name of an embedded struct, not of a field in the file
		complaint := fmt.Sprintf("%s: want %s, got %s", field, cmp.Or(words[mistyped.Type.Kind().String()], "fields"), cmp.Or(words[mistyped.Value], "fields"))
		return errors.New(strings.TrimPrefix(complaint, ": ")) // the field is empty if the whole document has the wrong type
	}
	if err == nil && len(unknown) > 0 {
		err = fmt.Errorf("%w: the fields are %s", unknown[0], strings.Join(fieldNames(into), ", "))
	}
	return err
}

func fieldNames(of any) []string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeOf(of).Elem()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func convert(fields map[string]any, into any) error {
	document, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return decode(document, into)
}
