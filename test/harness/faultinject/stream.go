package faultinject

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is the body of a watch, event by event: it can be held back between two of them, and ends
// when its operator dies.
type stream struct {
	instance *Instance
	target   string
	body     io.ReadCloser
	events   chan json.RawMessage
	closed   chan struct{}
	once     sync.Once

	buffered []byte // of the event that is being read
	end      error  // what comes after it
}

func newStream(instance *Instance, target string, body io.ReadCloser) *stream {
	s := &stream{instance: instance, target: target, body: body, events: make(chan json.RawMessage), closed: make(chan struct{})}
	go s.decodeEvents()
	return s
}

// decodeEvents takes the events apart, as the API server sends them.
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
		case <-s.closed:
			return
		}
	}
}

// Read gives the next event, or what is left of it.
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

// next waits for an event and for the end of what holds it back. With an error the stream ends after
// the event.
func (s *stream) next() ([]byte, error) {
	var event json.RawMessage
	select {
	case <-s.instance.disconnected:
		return nil, errDisconnected
	case <-s.closed:
		return nil, io.EOF
	case event = <-s.events:
	}
	if event == nil {
		return nil, io.EOF
	}
	about := parseEvent(event)
	// A bookmark tells of nothing that has happened, and what is held must be something that has.
	if hold := s.instance.injector.pausedWatchOf(s.target); hold != nil && about.Type != watch.Bookmark {
		s.instance.injector.markWithheld(hold)
		select {
		case <-s.instance.disconnected:
			return nil, errDisconnected
		case <-s.closed:
			return nil, io.EOF
		case <-hold.resumed:
		}
		if hold.expire {
			return expiredEvent(), io.EOF
		}
	}
	s.instance.injector.setObservedVersion(s.target, about.Object.Metadata.ResourceVersion)
	return append(event, '\n'), nil
}

func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.body.Close()
}

// expiredEvent is the event with which an API server says that it has no history back to where a watch was.
func expiredEvent() []byte {
	return fmt.Appendf(nil, "{\"type\":\"ERROR\",\"object\":%s}\n", statusBody(http.StatusGone, metav1.StatusReasonExpired))
}

// watchEvent is what is read of a watch's event.
type watchEvent struct {
	Type   watch.EventType `json:"type"`
	Object responseObject  `json:"object"`
}

func parseEvent(event json.RawMessage) watchEvent {
	var seen watchEvent
	_ = json.Unmarshal(event, &seen) // what is no event of an object tells of no version
	return seen
}
