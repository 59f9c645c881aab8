package scenarioyaml

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// toJSON converts a YAML file to JSON. The file must contain exactly one document.
func toJSON(text []byte) ([]byte, error) {
	documents, err := documentsOf(text)
	if err != nil {
		return nil, err
	}
	switch len(documents) {
	case 0:
		return nil, errors.New("the file is empty: add settings or scenarios, or remove the file")
	case 1:
		return documents[0], nil
	default:
		return nil, fmt.Errorf("%d documents: put all scenarios into a single document", len(documents))
	}
}

// documentsOf converts the documents of a YAML file to JSON. It skips empty documents and rejects duplicate keys.
func documentsOf(text []byte) ([]json.RawMessage, error) {
	var documents []json.RawMessage
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err == nil {
			document, err = yaml.YAMLToJSONStrict(document)
		}
		if err != nil {
			return nil, errors.New(strings.Join(strings.Fields(err.Error()), " ")) // errors are printed on a single line
		}
		if string(document) != "null" {
			documents = append(documents, document)
		}
	}
}

// decode decodes a JSON document. It rejects unknown fields and does not convert numbers to float64.
func decode(document []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	err := decoder.Decode(into)
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		want := map[reflect.Kind]string{reflect.String: "text", reflect.Slice: "a list", reflect.Bool: "true or false", reflect.Int: "a number"}[mistyped.Type.Kind()]
		got := map[string]string{"string": "text", "array": "a list", "object": "fields", "number": "a number", "bool": "true or false"}[mistyped.Value]
		field := strings.TrimPrefix(mistyped.Field, "Settings.") // Settings is the name of an embedded struct, not of a field in the file
		complaint := fmt.Sprintf("%s: want %s, got %s", field, cmp.Or(want, "fields"), cmp.Or(got, mistyped.Value))
		return errors.New(strings.TrimPrefix(complaint, ": ")) // the field is empty if the whole document has the wrong type
	}
	if err != nil {
		complaint, isUnknown := strings.CutPrefix(err.Error(), "json: unknown field ")
		if isUnknown {
			return fmt.Errorf("unknown field %s: the fields are %s", complaint, strings.Join(fieldNames(into), ", "))
		}
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
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
