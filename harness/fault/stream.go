package fault

import (
	"bytes"
	"context"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is a watch response body that returns one event at a time and can be paused.
type stream struct {
	instance *Instance
	target   string
	body     io.Closer
	encoding runtime.SerializerInfo
	decoder  streaming.Decoder
	open     context.Context // canceled by Close, by EndWatches and when the instance ends
	close    context.CancelFunc

	buffered []byte // the rest of the current event
	end      error  // the error that Read returns after the current event
}

func newStream(instance *Instance, target string, response *http.Response) *stream {
	s := &stream{instance: instance, target: target, body: response.Body, encoding: serializerOf(response.Header.Get("Content-Type"))}
	s.decoder = streaming.NewDecoder(s.encoding.StreamSerializer.NewFrameReader(response.Body), s.encoding.StreamSerializer)
	s.open, s.close = context.WithCancel(instance.watchesOpen())
	context.AfterFunc(s.open, func() { _ = s.body.Close() }) // ends a pending read
	return s
}

func (s *stream) Read(into []byte) (int, error) {
	if len(s.buffered) == 0 && s.end == nil {
		s.buffered, s.end = s.next()
	}
	if len(s.buffered) == 0 {
		return 0, s.end
	}
	n := copy(into, s.buffered)
	s.buffered = s.buffered[n:]
	return n, nil
}

// next returns the next event. It blocks while the watch is paused. If next returns both an event and an error, the
// stream ends after the event.
func (s *stream) next() ([]byte, error) {
	event, isExpired := &metav1.WatchEvent{}, false
	_, _, err := s.decoder.Decode(nil, event)
	kind := watch.EventType(event.Type)
	if err == nil && kind != watch.Bookmark { // a bookmark reports no change
		isExpired = s.waitWhilePaused()
	}
	switch {
	case s.instance.end.isSent():
		return nil, errDisconnected
	case err != nil, s.open.Err() != nil:
		return nil, io.EOF
	case isExpired:
		return s.encode(s.expiredEvent()), io.EOF
	}
	object, _ := parseObject(event.Object.Raw)
	s.instance.injector.received(s.target, kind, object)
	return s.encode(event), nil
}

// waitWhilePaused waits until the watch is resumed or ends. It reports whether the watch expired during the pause.
func (s *stream) waitWhilePaused() (isExpired bool) {
	view := s.instance.injector.delayEvent(s.target)
	if view == nil {
		return false
	}
	select {
	case <-s.open.Done():
		return false
	case <-view.resumed:
		return view.expired
	}
}

func (s *stream) encode(event *metav1.WatchEvent) []byte {
	var framed bytes.Buffer
	streams := s.encoding.StreamSerializer
	_, _ = streams.NewFrameWriter(&framed).Write(mustEncode(streams, event)) // a Buffer never fails
	return framed.Bytes()
}

// expiredEvent returns the event that an API server sends if the resourceVersion of a watch is too old.
func (s *stream) expiredEvent() *metav1.WatchEvent {
	status := mustEncode(s.encoding.Serializer, statusOf(apierrors.NewResourceExpired(injected)))
	return &metav1.WatchEvent{Type: string(watch.Error), Object: runtime.RawExtension{Raw: status}}
}

func (s *stream) Close() error {
	s.close()
	return s.body.Close()
}
