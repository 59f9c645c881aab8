package fault

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is a watch response body that returns one event at a time and can be paused.
type stream struct {
	instance *Instance
	target   string
	body     io.ReadCloser
	events   chan json.RawMessage
	open     context.Context // canceled by Close or when the instance ends
	close    context.CancelFunc
	ended    <-chan struct{} // closed by EndWatches

	buffered []byte // the rest of the current event
	end      error  // the error that Read returns after the current event
}

func newStream(instance *Instance, target string, body io.ReadCloser) *stream {
	s := &stream{instance: instance, target: target, body: body, events: make(chan json.RawMessage), ended: instance.injector.watchesEnd()}
	s.open, s.close = context.WithCancel(instance.end)
	go s.decodeEvents()
	return s
}

func (s *stream) decodeEvents() {
	defer close(s.events)
	decoder := json.NewDecoder(s.body)
	for {
		var event json.RawMessage
		if decoder.Decode(&event) != nil {
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
	var event json.RawMessage
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
	about := parseEvent(event)
	// Bookmarks are not delayed, because they do not report a change.
	if about.Type != watch.Bookmark {
		if view := s.instance.injector.delayEvent(s.target); view != nil {
			select {
			case <-s.open.Done():
				return nil, errDisconnected
			case <-view.resumed:
			}
			if view.expired {
				return expiredEvent(), io.EOF
			}
		}
	}
	s.instance.injector.observe(s.target, about.Object.ResourceVersion)
	if about.Type != watch.Bookmark {
		s.instance.injector.delivered(s.target, about.Type != watch.Deleted && about.Object.DeletionTimestamp != nil)
	}
	return append(event, '\n'), nil
}

func (s *stream) Close() error {
	s.close()
	return s.body.Close()
}

// expiredEvent returns the event that an API server sends if the resourceVersion of a watch is too old.
func expiredEvent() []byte {
	return fmt.Appendf(nil, "{\"type\":\"ERROR\",\"object\":%s}\n", encode(statusOf(apierrors.NewResourceExpired(injected))))
}

type watchEvent struct {
	Type   watch.EventType `json:"type"`
	Object responseObject  `json:"object"`
}

func parseEvent(event json.RawMessage) watchEvent {
	var seen watchEvent
	_ = json.Unmarshal(event, &seen) // a malformed event has no version
	return seen
}
