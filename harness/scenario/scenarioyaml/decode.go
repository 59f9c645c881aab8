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

// toJSON converts a YAML file to JSON. It rejects duplicate keys. The file must contain exactly one document that is not
// empty.
func toJSON(text []byte) (found []byte, _ error) {
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF) && found == nil:
			return nil, errors.New("the file is empty: add settings or scenarios, or remove the file")
		case errors.Is(err, io.EOF):
			return found, nil
		case err == nil:
			document, err = yaml.YAMLToJSONStrict(document)
		}
		switch {
		case err != nil:
			return nil, errors.New(strings.Join(strings.Fields(err.Error()), " ")) // errors are printed on a single line
		case string(document) == "null":
		case found != nil:
			return nil, errors.New("several documents: put all scenarios into a single document")
		default:
			found = document
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
