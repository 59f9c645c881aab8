package record

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// timeFormat shows a request's time to the millisecond.
const timeFormat = "15:04:05.000"

// Request is one request to the API server, in the API server's terms.
type Request struct {
	// Step and Instance are the labels that were set when the request was sent. Instance tells the starts of an operator
	// apart.
	Step     string
	Instance int
	// Time is when the request was sent, Duration how long its response took; for a watch, the time until it was
	// open.
	Time     time.Time
	Duration time.Duration
	// Verb is get, list, watch, create, update, patch, apply (a server-side apply), delete or deletecollection; for a
	// path that is no resource, the HTTP method in lower case.
	Verb string
	// Group is empty for the core group. Namespace is empty for cluster-scoped requests, and Name where the URL has
	// none: in lists, watches and creates.
	Group, Version, Resource, Subresource, Namespace, Name string
	// Path is the URL's.
	Path string
	// Status is the HTTP status: 201 for an apply that created. It is 0 without a response; Answered then tells
	// whether the request has failed or is under way.
	Status   int
	Answered bool
	// Message is what the API server says about an error, in one line of at most maxMessage characters.
	Message string
}

// Target is the request's resource or resource/subresource, with its group.
func (r Request) Target() string {
	if r.Resource == "" {
		return r.Path
	}
	target := r.Resource
	if r.Group != "" {
		target += "." + r.Group
	}
	if r.Subresource != "" {
		target += "/" + r.Subresource
	}
	return target
}

// String is a line such as "12:00:00.123 apply deployments.apps a/web 201 3ms [scale]", with the message of an error in the end.
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
		outcome, r.Duration.Round(time.Millisecond))
	if r.Step != "" {
		line += " [" + r.Step + "]"
	}
	if r.Message != "" {
		line += ": " + r.Message
	}
	return line
}

// Filter matches the requests for which it returns true.
type Filter func(Request) bool

// InNamespace matches the requests about a namespace's objects.
func InNamespace(namespace string) Filter {
	return func(r Request) bool { return r.Namespace == namespace }
}

// Requests are in the order in which they were sent.
type Requests []Request

// Filter returns those that all filters match.
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

// Writes returns what an operation costs: the requests that change an object, without Events, which are counted
// apart, and Leases.
func (rs Requests) Writes() Requests {
	return rs.Filter(Request.IsWrite, func(r Request) bool { return !r.IsEvent() && !r.IsLease() })
}

// Reads returns the live reads of an operation: the requests that change nothing, without watches, which fill the
// cache, and Leases.
func (rs Requests) Reads() Requests {
	return rs.Filter(func(r Request) bool { return !r.IsWrite() && r.Verb != "watch" && !r.IsLease() })
}

// Slowest is how long the slowest response took. Watches do not count, since they stay open.
func (rs Requests) Slowest() time.Duration {
	var slowest time.Duration
	for _, r := range rs {
		if r.Verb != "watch" {
			slowest = max(slowest, r.Duration)
		}
	}
	return slowest
}

// Table counts the requests by step, verb and target, in the order of their first occurrence.
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

// String is a line for each request.
func (rs Requests) String() string {
	var out strings.Builder
	for _, request := range rs {
		fmt.Fprintln(&out, request)
	}
	return out.String()
}

// IsWrite tells whether the request is to change something.
func (r Request) IsWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "apply", "delete", "deletecollection"}, r.Verb)
}

// IsEvent tells whether the request is about Events, of events.k8s.io or the core group.
func (r Request) IsEvent() bool {
	return r.Resource == "events" && (r.Group == "" || r.Group == "events.k8s.io")
}

// IsLease tells whether the request is about Leases, such as a leader renews.
func (r Request) IsLease() bool {
	return r.Resource == "leases" && r.Group == "coordination.k8s.io"
}

// IsOwnPod tells whether the request is about the operator's own Pod.
func (r Request) IsOwnPod() bool {
	return r.Resource == "pods" && r.Group == "" && IsOwnPod(r.Name)
}
