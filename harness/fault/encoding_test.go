package fault

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// encodings contains the encodings in which the API server sends built-in kinds.
var encodings = []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf}

func encodedAs(t *testing.T, contentType string, object runtime.Object) []byte {
	t.Helper()
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), contentType)
	text, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), object)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
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
	custom, known := parseObject([]byte(`{"kind":"AllowList","metadata":{"name":"one"},"items":["a",1]}`))
	NewWithT(t).Expect(known).To(BeTrue(), "the items of a custom resource can be of any type")
	NewWithT(t).Expect(custom.Name).To(Equal("one"))
	_, known = parseObject([]byte("ok"))
	NewWithT(t).Expect(known).To(BeFalse())
}
