package fault

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// encodings contains the encodings in which the API server sends built-in kinds.
var encodings = []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf}

func encodedAs(t *testing.T, contentType string, object runtime.Object) []byte {
	t.Helper()
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), contentType)
	text, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestObjectsAreParsed(t *testing.T) {
	deleted := metav1.Now()
	one := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one", ResourceVersion: "7", DeletionTimestamp: &deleted}, Data: map[string]string{"a": "b"}}
	for _, contentType := range encodings {
		g := NewWithT(t)
		object, known := parseObject(encodedAs(t, contentType, &one))
		g.Expect(known).To(BeTrue(), contentType)
		g.Expect(object.Name+" "+object.ResourceVersion).To(Equal("one 7"), contentType)
		g.Expect(object.DeletionTimestamp).NotTo(BeNil(), contentType)
		object, known = parseObject(encodedAs(t, contentType, &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}, Items: []corev1.ConfigMap{one, one}}))
		g.Expect(known).To(BeTrue(), contentType)
		g.Expect(object.ResourceVersion).To(Equal("9"), contentType)
		g.Expect(object.Items).To(HaveLen(2), contentType)
		object, known = parseObject(encodedAs(t, contentType, &metav1.Status{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Message: "gone"}))
		g.Expect(known).To(BeTrue(), contentType)
		g.Expect(object).To(BeZero(), contentType)
	}
	_, known := parseObject([]byte("ok"))
	NewWithT(t).Expect(known).To(BeFalse())
}

func TestEventsAreSplit(t *testing.T) {
	for _, contentType := range encodings {
		g := NewWithT(t)
		of := encodingOf(&http.Response{Header: http.Header{"Content-Type": {contentType + ";stream=watch"}}})
		event := func(kind watch.EventType, version string) []byte {
			object := encodedAs(t, contentType, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one", ResourceVersion: version}})
			if !of.isProtobuf {
				return slices.Concat([]byte(`{"type":"`+kind+`","object":`), bytes.TrimSpace(object), []byte("}\n"))
			}
			event := metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: object}}
			frame, err := event.Marshal()
			g.Expect(err).NotTo(HaveOccurred())
			return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
		}
		sent := [][]byte{event(watch.Added, "1"), event(watch.Bookmark, "2"), of.expiredEvent()}
		next := of.events(bytes.NewReader(slices.Concat(sent...)))
		for i, want := range []watch.EventType{watch.Added, watch.Bookmark, watch.Error} {
			got, err := next()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(sent[i]), contentType)
			kind, object := of.parseEvent(got)
			g.Expect(kind).To(Equal(want), contentType)
			if want != watch.Error {
				g.Expect(object.ResourceVersion).To(Equal([]string{"1", "2"}[i]), contentType)
			}
		}
		_, err := next()
		g.Expect(err).To(MatchError(io.EOF))
	}
}
