package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditPolicy logs the requests of the measured clients only, so that the log costs the API server little.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: None, verbs: [watch]}
- {level: Metadata, users: ["` + operatorUser + `", "` + idealUser + `"]}
- {level: None}
`

// Requests are how many requests a client has made.
type Requests struct {
	Reads  int `json:"reads"`
	Writes int `json:"writes"` // Events apart
	Events int `json:"events"`
	// Refused is how many of them were not answered with 2xx.
	Refused int `json:"refused"`
	// Each counts them by verb, resource and, if it is not 2xx, status: "patch deployments 409".
	Each map[string]int `json:"each,omitempty"`
}

// All is how many requests there were.
func (r Requests) All() int { return r.Reads + r.Writes + r.Events }

// add counts a request.
func (r *Requests) add(e auditv1.Event) {
	switch {
	case e.Verb == "get" || e.Verb == "list":
		r.Reads++
	case e.ObjectRef.Resource == "events":
		r.Events++
	default:
		r.Writes++
	}
	what := e.Verb + " " + e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		what += "/" + e.ObjectRef.Subresource
	}
	if e.ResponseStatus != nil && e.ResponseStatus.Code/100 != 2 {
		r.Refused++
		what += fmt.Sprintf(" %d", e.ResponseStatus.Code)
	}
	if r.Each == nil {
		r.Each = map[string]int{}
	}
	r.Each[what]++
}

// String lists the requests by verb and resource, the most frequent first.
func (r Requests) String() string {
	all := slices.Sorted(maps.Keys(r.Each))
	slices.SortStableFunc(all, func(a, b string) int { return r.Each[b] - r.Each[a] })
	for i, what := range all {
		all[i] = fmt.Sprintf("%d %s", r.Each[what], what)
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// auditTail reads an audit log while it grows.
type auditTail struct {
	user   string
	file   *os.File
	reader *bufio.Reader
	rest   []byte // the beginning of a line that is still being written
}

func tailAudit(path, user string) (*auditTail, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &auditTail{user: user, file: file, reader: bufio.NewReaderSize(file, 1<<20)}, nil
}

// next returns the user's requests since the last call, except watches, leader election (all requests to the operator's
// own namespace) and requests that are about no resource.
func (t *auditTail) next() ([]auditv1.Event, error) {
	var events []auditv1.Event
	for {
		line, err := t.reader.ReadBytes('\n')
		t.rest = append(t.rest, line...)
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		var e auditv1.Event
		if err := json.Unmarshal(t.rest, &e); err != nil {
			return nil, fmt.Errorf("the audit log %s: %w", t.file.Name(), err)
		}
		t.rest = t.rest[:0]
		if e.User.Username == t.user && e.ObjectRef != nil && e.Verb != "watch" && e.ObjectRef.Namespace != operatorNamespace {
			events = append(events, e)
		}
	}
}

// A phase ends when the measured client has sent no request for idleFor, or after idleTimeout.
const (
	idleFor     = 3 * time.Second
	idleTimeout = time.Minute
	// auditInterval is how often the log is read. No measured time depends on it.
	auditInterval = 100 * time.Millisecond
)

// untilIdle returns the user's requests until there have been none for idleFor.
func (t *auditTail) untilIdle(ctx context.Context) ([]auditv1.Event, error) {
	var all []auditv1.Event
	began := time.Now()
	last := began
	for looks := time.NewTicker(auditInterval); ; {
		events, err := t.next()
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
		if now := time.Now(); len(events) > 0 {
			last = now
		}
		if now := time.Now(); now.Sub(last) >= idleFor || now.Sub(began) >= idleTimeout {
			looks.Stop()
			return all, nil
		}
		select {
		case <-looks.C:
		case <-ctx.Done():
			looks.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

func count(events []auditv1.Event) Requests {
	var r Requests
	for _, e := range events {
		r.add(e)
	}
	return r
}
