package fault

import (
	"bytes"
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// responseObject holds the metadata of an object or a list.
type responseObject struct {
	metav1.PartialObjectMetadata
	Items []json.RawMessage `json:"items"` // a custom resource may have a field of this name, whose elements can be of any type
}

// parseObject reads an object or a list that is encoded as JSON or protobuf. It returns false for other responses, such
// as "ok" from a health check. The result is empty for a Status, which has no metadata.
func parseObject(body []byte) (object responseObject, known bool) {
	encoded, isProtobuf := bytes.CutPrefix(body, []byte("k8s\x00"))
	if !isProtobuf {
		err := json.Unmarshal(body, &object)
		if object.Kind == "Status" {
			object = responseObject{}
		}
		return object, err == nil
	}
	var envelope runtime.Unknown
	err := envelope.Unmarshal(encoded)
	switch {
	case err != nil, envelope.Kind == "Status":
	case strings.HasSuffix(envelope.Kind, "List"):
		var list metav1.PartialObjectMetadataList
		err = list.Unmarshal(envelope.Raw)
		object.ResourceVersion, object.Items = list.ResourceVersion, make([]json.RawMessage, len(list.Items))
	default:
		err = object.Unmarshal(envelope.Raw) // skips all other fields
	}
	return object, err == nil
}

// serializerOf returns the serializer for an Accept or Content-Type header. It prefers JSON to protobuf.
func serializerOf(header string) runtime.SerializerInfo {
	mediaType := runtime.ContentTypeJSON
	if strings.Contains(header, "protobuf") && !strings.Contains(header, "json") {
		mediaType = runtime.ContentTypeProtobuf
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	return info
}

// mustEncode encodes an object. It is used only for objects that can always be encoded, such as a Status.
func mustEncode(encoder runtime.Encoder, object runtime.Object) []byte {
	text, err := runtime.Encode(encoder, object)
	if err != nil {
		panic(err)
	}
	return text
}
