package record

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

const timeFormat = "15:04:05.000"

// Request is a request to the API server.
type Request struct {
	// Step is the scenario step during which the request was sent. Instance is the number of the operator instance.
	Step     string
	Instance int
	// Time is the time at which the request was sent. Ended is the time at which the response headers arrived or the
	// request failed, or zero while the request is in flight.
	Time, Ended time.Time
	// Verb is get, list, watch, create, update, patch, apply (a server-side apply), delete or deletecollection. If the
	// request is not for a resource, Verb is the HTTP method in lower case.
	Verb string
	// Group is empty for the core group. Resource is the path if the request is not for a resource. Namespace is empty
	// for cluster-scoped requests. Name is empty for lists, watches and creates.
	Group, Resource, Subresource, Namespace, Name string
	// Status is the HTTP status code, or 0 if there is no response.
	Status int
	// Message is the message of an error response, shortened to one line.
	Message string
}

// IsInFlight reports whether the request has neither been answered nor failed.
func (r Request) IsInFlight() bool { return r.Ended.IsZero() }

// Duration returns the time until the response headers arrived or the request failed. It is 0 until then.
func (r Request) Duration() time.Duration { return max(0, r.Ended.Sub(r.Time)) }

// IsForResource reports whether the request is for an API resource, as opposed to a path such as /version.
func (r Request) IsForResource() bool { return !strings.HasPrefix(r.Resource, "/") }

// Target returns the resource, such as deployments.apps/status, or the path if the request is not for a resource.
func (r Request) Target() string {
	target := r.Resource
	if r.Group != "" {
		target += "." + r.Group
	}
	if r.Subresource != "" {
		target += "/" + r.Subresource
	}
	return target
}

// String returns a line such as "12:00:00.123 apply deployments.apps a/web 500 3ms [scale]: message".
func (r Request) String() string {
	object := r.Name
	if r.Namespace != "" {
		object = r.Namespace + "/" + r.Name
	}
	outcome := fmt.Sprint(r.Status)
	if r.Status == 0 {
		outcome = "unanswered"
	}
	line := fmt.Sprintf("%s %-6s %s %s %s %s", r.Time.Format(timeFormat), r.Verb, r.Target(), object,
		outcome, r.Duration().Round(time.Millisecond))
	if r.Step != "" {
		line += " [" + r.Step + "]"
	}
	if r.Message != "" {
		line += ": " + r.Message
	}
	return line
}

// Filter reports whether a request matches.
type Filter func(Request) bool

// InNamespace returns a Filter that matches the requests for a namespace.
func InNamespace(namespace string) Filter {
	return func(r Request) bool { return r.Namespace == namespace }
}

// Requests is a list of requests in the order in which they were sent.
type Requests []Request

// Filter returns the requests that match all filters.
func (rs Requests) Filter(filters ...Filter) Requests {
	var kept Requests
	for _, request := range rs {
		if keeps(filters, request) {
			kept = append(kept, request)
		}
	}
	return kept
}

func keeps(filters []Filter, request Request) bool {
	return !slices.ContainsFunc(filters, func(keep Filter) bool { return !keep(request) })
}

// Writes returns the write requests, except those for Events and Leases.
func (rs Requests) Writes() Requests {
	return rs.Filter(Request.IsWrite, func(r Request) bool { return !r.IsEvent() && !r.IsLease() })
}

// Reads returns the read requests, except watches and requests for Leases.
func (rs Requests) Reads() Requests {
	return rs.Filter(func(r Request) bool { return !r.IsWrite() && r.Verb != "watch" && !r.IsLease() })
}

// Slowest returns the duration of the slowest request, ignoring watches.
func (rs Requests) Slowest() time.Duration {
	var slowest time.Duration
	for _, r := range rs {
		if r.Verb != "watch" {
			slowest = max(slowest, r.Duration())
		}
	}
	return slowest
}

// Table returns a table with the number of requests by step, verb and target, in order of first occurrence.
func (rs Requests) Table() string {
	type row struct{ step, verb, target string }
	var rows []row
	counts := map[row]int{}
	for _, r := range rs {
		key := row{r.Step, r.Verb, r.Target()}
		if counts[key] == 0 {
			rows = append(rows, key)
		}
		counts[key]++
	}
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STEP\tVERB\tRESOURCE\tREQUESTS")
	for _, key := range rows {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\n", key.step, key.verb, key.target, counts[key])
	}
	_ = table.Flush() // a strings.Builder never fails
	return out.String()
}

func (rs Requests) String() string {
	var out strings.Builder
	for _, request := range rs {
		fmt.Fprintln(&out, request)
	}
	return out.String()
}

// IsWrite reports whether the request creates, changes or deletes an object.
func (r Request) IsWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "apply", "delete", "deletecollection"}, r.Verb)
}

// IsEvent reports whether the request is for Events, either in events.k8s.io or in the core group.
func (r Request) IsEvent() bool {
	return r.Resource == "events" && (r.Group == "" || r.Group == "events.k8s.io")
}

// IsLease reports whether the request is for Leases, which are used by leader election.
func (r Request) IsLease() bool {
	return r.Resource == "leases" && r.Group == "coordination.k8s.io"
}

// IsOwnPod reports whether the request is for the operator's own Pod.
func (r Request) IsOwnPod() bool {
	return r.Resource == "pods" && r.Group == "" && IsOwnPod(r.Name)
}
