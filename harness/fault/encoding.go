package fault

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// responseObject holds the metadata of an object or a list.
type responseObject struct {
	metav1.PartialObjectMetadata
	Items []struct{} `json:"items"`
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
		object.ResourceVersion, object.Items = list.ResourceVersion, make([]struct{}, len(list.Items))
	default:
		err = object.Unmarshal(envelope.Raw) // skips all other fields
	}
	return object, err == nil
}

// encoding is the encoding of the events of a watch.
type encoding struct{ isProtobuf bool }

func encodingOf(response *http.Response) encoding {
	return encoding{strings.HasPrefix(response.Header.Get("Content-Type"), runtime.ContentTypeProtobuf)}
}

// frameHeader is the size of the number that precedes every event in protobuf. It is the length of the event.
const frameHeader = 4

// events returns a function that returns the next event as the API server sent it.
func (e encoding) events(body io.Reader) func() ([]byte, error) {
	if e.isProtobuf {
		return func() ([]byte, error) {
			event := make([]byte, frameHeader)
			if _, err := io.ReadFull(body, event); err != nil {
				return nil, err
			}
			event = append(event, make([]byte, binary.BigEndian.Uint32(event))...)
			_, err := io.ReadFull(body, event[frameHeader:])
			return event, err
		}
	}
	decoder := json.NewDecoder(body)
	return func() ([]byte, error) {
		var event json.RawMessage
		err := decoder.Decode(&event)
		return append(event, '\n'), err
	}
}

// parseEvent returns the type and the object of an event. They are empty if the event is malformed.
func (e encoding) parseEvent(event []byte) (watch.EventType, responseObject) {
	if e.isProtobuf {
		var parsed metav1.WatchEvent
		if parsed.Unmarshal(event[frameHeader:]) != nil {
			return "", responseObject{}
		}
		object, _ := parseObject(parsed.Object.Raw)
		return watch.EventType(parsed.Type), object
	}
	var parsed struct {
		Type   watch.EventType `json:"type"`
		Object responseObject  `json:"object"`
	}
	_ = json.Unmarshal(event, &parsed)
	return parsed.Type, parsed.Object
}

// expiredEvent returns the event that an API server sends if the resourceVersion of a watch is too old.
func (e encoding) expiredEvent() []byte {
	status := statusOf(apierrors.NewResourceExpired(injected))
	if !e.isProtobuf {
		return fmt.Appendf(nil, "{\"type\":\"ERROR\",\"object\":%s}\n", encode(status))
	}
	var encoded bytes.Buffer
	_ = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(&status, &encoded) // a Status can always be encoded
	event := metav1.WatchEvent{Type: string(watch.Error), Object: runtime.RawExtension{Raw: encoded.Bytes()}}
	frame, _ := event.Marshal()                                                     // cannot fail, because the fields are a string and bytes
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...) //nolint:gosec // the event is short
}
