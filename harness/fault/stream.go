package fault

import (
	"context"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/watch"
)

// stream is a watch response body that returns one event at a time and can be paused.
type stream struct {
	instance *Instance
	target   string
	body     io.ReadCloser
	encoding encoding
	events   chan []byte
	open     context.Context // canceled by Close or when the instance ends
	close    context.CancelFunc
	ended    <-chan struct{} // closed by EndWatches

	buffered []byte // the rest of the current event
	end      error  // the error that Read returns after the current event
}

func newStream(instance *Instance, target string, response *http.Response) *stream {
	s := &stream{instance: instance, target: target, body: response.Body, encoding: encodingOf(response),
		events: make(chan []byte), ended: instance.injector.watchesEnd()}
	s.open, s.close = context.WithCancel(instance.end)
	go s.readEvents()
	return s
}

func (s *stream) readEvents() {
	defer close(s.events)
	for next := s.encoding.events(s.body); ; {
		event, err := next()
		if err != nil {
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
	var event []byte
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
	kind, object := s.encoding.parseEvent(event)
	// Bookmarks are not delayed, because they do not report a change.
	if kind != watch.Bookmark {
		if view := s.instance.injector.delayEvent(s.target); view != nil {
			select {
			case <-s.open.Done():
				return nil, errDisconnected
			case <-view.resumed:
			}
			if view.expired {
				return s.encoding.expiredEvent(), io.EOF
			}
		}
	}
	s.instance.injector.observe(s.target, object.ResourceVersion)
	if kind != watch.Bookmark {
		s.instance.injector.delivered(s.target, kind != watch.Deleted && object.DeletionTimestamp != nil)
	}
	return event, nil
}

func (s *stream) Close() error {
	s.close()
	return s.body.Close()
}
