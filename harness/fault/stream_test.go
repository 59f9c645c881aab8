package fault

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// TestWatchOfEndedInstanceIsDisconnected ends a watch and its instance at the same time. The watch must fail with
// errDisconnected instead of ending normally.
func TestWatchOfEndedInstanceIsDisconnected(t *testing.T) {
	for range 50 {
		_, instance := New(Scope{}).NewInstance(&rest.Config{})
		stream := newStream(instance, "configmaps", &http.Response{Body: io.NopCloser(strings.NewReader(""))})
		instance.End()
		if _, err := stream.Read(make([]byte, 1)); !errors.Is(err, errDisconnected) {
			t.Fatalf("got %v, want %v", err, errDisconnected)
		}
	}
}

func TestWatchForwardsEvents(t *testing.T) {
	for _, contentType := range encodings {
		g := NewWithT(t)
		_, instance := New(Scope{}).NewInstance(&rest.Config{})
		t.Cleanup(instance.End)
		event := func(kind watch.EventType, version string) []byte {
			object := encodedAs(t, contentType, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one", ResourceVersion: version}})
			if contentType == runtime.ContentTypeJSON {
				return slices.Concat([]byte(`{"type":"`+kind+`","object":`), bytes.TrimSpace(object), []byte("}\n"))
			}
			event := metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: object}}
			frame, err := event.Marshal()
			g.Expect(err).NotTo(HaveOccurred())
			return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
		}
		sent := slices.Concat(event(watch.Added, "1"), event(watch.Bookmark, "2"))
		stream := newStream(instance, "configmaps", &http.Response{
			Header: http.Header{"Content-Type": {contentType + ";stream=watch"}}, Body: io.NopCloser(bytes.NewReader(sent))})
		g.Expect(io.ReadAll(stream)).To(Equal(sent), contentType)
		g.Expect(instance.injector.watches.observed).To(HaveKeyWithValue("configmaps", "2"), contentType)

		object, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), stream.expiredEvent().Object.Raw)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(apierrors.IsResourceExpired(apierrors.FromObject(object))).To(BeTrue(), contentType)
	}
}
