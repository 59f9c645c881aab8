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
	body     io.ReadCloser
	encoding runtime.SerializerInfo
	events   chan *metav1.WatchEvent
	open     context.Context // canceled by Close or when the instance ends
	close    context.CancelFunc
	ended    <-chan struct{} // closed by EndWatches

	buffered []byte // the rest of the current event
	end      error  // the error that Read returns after the current event
}

func newStream(instance *Instance, target string, response *http.Response) *stream {
	s := &stream{instance: instance, target: target, body: response.Body, encoding: serializerOf(response.Header.Get("Content-Type")),
		events: make(chan *metav1.WatchEvent), ended: instance.injector.watchesEnd()}
	s.open, s.close = context.WithCancel(instance.end)
	go s.readEvents()
	return s
}

func (s *stream) readEvents() {
	defer close(s.events)
	streams := s.encoding.StreamSerializer
	decoder := streaming.NewDecoder(streams.NewFrameReader(s.body), streams)
	for {
		event := &metav1.WatchEvent{}
		if _, _, err := decoder.Decode(nil, event); err != nil {
			return
		}
		select {
		case s.events <- event:
		case <-s.open.Done():
			return
		}
	}
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

// next returns the next event. While the watch is paused, next waits. If next returns both an event and an error, the
// stream ends after the event.
func (s *stream) next() ([]byte, error) {
	var event *metav1.WatchEvent
	select {
	case <-s.open.Done():
		return nil, errDisconnected
	case <-s.ended:
		return nil, io.EOF
	case event = <-s.events:
	}
	switch {
	case event == nil && s.instance.end.isSent():
		return nil, errDisconnected
	case event == nil:
		return nil, io.EOF
	}
	kind := watch.EventType(event.Type)
	object, _ := parseObject(event.Object.Raw)
	// Bookmarks are not delayed, because they do not report a change.
	if kind != watch.Bookmark {
		if view := s.instance.injector.delayEvent(s.target); view != nil {
			select {
			case <-s.open.Done():
				return nil, errDisconnected
			case <-view.resumed:
			}
			if view.expired {
				return s.encode(s.expiredEvent()), io.EOF
			}
		}
	}
	s.instance.injector.observe(s.target, object.ResourceVersion)
	if kind != watch.Bookmark {
		s.instance.injector.delivered(s.target, kind != watch.Deleted && object.DeletionTimestamp != nil)
	}
	return s.encode(event), nil
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
