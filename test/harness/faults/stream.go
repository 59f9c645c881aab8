package faults

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
	life   *Life
	target string
	body   io.ReadCloser
	events chan json.RawMessage
	closed chan struct{}
	once   sync.Once

	rest []byte // of the event that is being read
	end  error  // what comes after it
}

func newStream(life *Life, target string, body io.ReadCloser) *stream {
	s := &stream{life: life, target: target, body: body, events: make(chan json.RawMessage), closed: make(chan struct{})}
	go s.pump()
	return s
}

// pump takes the events apart, as the API server sends them.
func (s *stream) pump() {
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
	if len(s.rest) == 0 && s.end == nil {
		s.rest, s.end = s.next()
	}
	if len(s.rest) == 0 {
		return 0, s.end
	}
	n := copy(into, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next waits for an event and for the end of what holds it back. With an error the stream ends after
// the event.
func (s *stream) next() ([]byte, error) {
	var event json.RawMessage
	select {
	case <-s.life.dead:
		return nil, errDead
	case <-s.closed:
		return nil, io.EOF
	case event = <-s.events:
	}
	if event == nil {
		return nil, io.EOF
	}
	about := read(event)
	// A bookmark tells of nothing that has happened, and what is held must be something that has.
	if hold := s.life.wire.holdOf(s.target); hold != nil && about.Type != watch.Bookmark {
		s.life.wire.keeps(hold)
		select {
		case <-s.life.dead:
			return nil, errDead
		case <-s.closed:
			return nil, io.EOF
		case <-hold.over:
		}
		if hold.broken {
			return expired(), io.EOF
		}
	}
	s.life.wire.saw(s.target, about.Object.Metadata.ResourceVersion)
	return append(event, '\n'), nil
}

func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.body.Close()
}

// expired is the event with which an API server says that it has no history back to where a watch was.
func expired() []byte {
	return fmt.Appendf(nil, "{\"type\":\"ERROR\",\"object\":%s}\n", statusOf(http.StatusGone, metav1.StatusReasonExpired))
}

// happening is what is read of a watch's event.
type happening struct {
	Type   watch.EventType `json:"type"`
	Object answer          `json:"object"`
}

func read(event json.RawMessage) happening {
	var seen happening
	_ = json.Unmarshal(event, &seen) // what is no event of an object tells of no version
	return seen
}
