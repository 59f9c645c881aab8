package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/operator-assay/assay/harness/report/results"
)

// auditPolicy only logs the requests of the measured clients, to limit the cost for the API server.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: None, verbs: [watch]}
- {level: Metadata, users: ["` + operatorUser + `", "` + idealUser + `"]}
- {level: None}
`

// auditTail reads an audit log while it is being written.
type auditTail struct {
	user   string
	file   *os.File
	reader *bufio.Reader
	rest   []byte // an incomplete line
}

func tailAudit(path, user string) (*auditTail, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &auditTail{user: user, file: file, reader: bufio.NewReaderSize(file, 1<<20)}, nil
}

// next returns the user's requests since the last call. It omits watches, leader election requests (all requests for
// the operator's namespace) and non-resource requests.
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
	// auditInterval is the interval at which the log is read. It does not affect the measured times.
	auditInterval = 100 * time.Millisecond
)

// untilIdle returns the user's requests and waits until there have been none for idleFor.
func (t *auditTail) untilIdle(ctx context.Context) ([]auditv1.Event, error) {
	var all []auditv1.Event
	began := time.Now()
	last := began
	for looks := time.Tick(auditInterval); ; {
		events, err := t.next()
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
		now := time.Now()
		if len(events) > 0 {
			last = now
		}
		if now.Sub(last) >= idleFor || now.Sub(began) >= idleTimeout {
			return all, nil
		}
		select {
		case <-looks:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// count counts requests by type.
func count(events []auditv1.Event) results.BenchRequests {
	r := results.BenchRequests{Each: map[string]int{}}
	for _, e := range events {
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
		r.Each[what]++
	}
	return r
}
