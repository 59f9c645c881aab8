package subject

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"al.essio.dev/pkg/shellescape"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/operator-assay/assay/harness/invent"
	"github.com/operator-assay/assay/harness/pod"
)

// planeError returns an InputError if the API server rejected a CRD, and other errors unchanged.
func planeError(err error) error {
	if refused, is := errors.AsType[*apierrors.StatusError](err); is && apierrors.IsInvalid(refused) {
		return inputErrorf("the API server rejects a CRD: %w: correct it, or pass other CRDs with --crds", refused)
	}
	return err
}

// Explain adds advice to an error from a fault-free run. It returns an InputError if the API server rejected a sample.
func (s *Subject) Explain(err error) error {
	if _, refused := errors.AsType[invent.RefusedError](err); refused {
		return InputError{err}
	}
	if _, is := errors.AsType[InputError](err); is {
		return err
	}
	path := s.operator.Binary
	if s.operator.Given == "" {
		path = filepath.Base(path)
	}
	next := "the operator was started as: " + shellescape.QuoteCommand(append([]string{path}, s.operator.container("NAMESPACE", "").Arguments...)) + "; arguments after -- replace those"
	if manager := s.operator.manager; manager != nil && !manager.HasCommand() {
		next += "; neither its Deployment nor a Dockerfile in the project contains a command"
	}
	if s.hasTests() {
		next = "each test must pass without faults and use the environment variables KUBECONFIG and NAMESPACE; " + next
	}
	if pod.Unavailable() == nil && otherSystem.MatchString(err.Error()) {
		next = "the operator can only connect to the API server: use arguments, or env in assay.yaml, to disable its dependencies on other systems; " + next
	}
	return explained{err, next}
}

// otherSystem matches the errors that programs in various languages report if they cannot connect to another system.
var otherSystem = regexp.MustCompile(`(?i)network (is )?unreachable|enetunreach|lookup \S+ on |name resolution|name or service not known|unknownhost|eai_again|\benotfound\b`)

type explained struct {
	error
	next string
}

func (e explained) Error() string { return strings.TrimSpace(e.error.Error()) + "\n" + e.next }

func (e explained) Unwrap() error { return e.error }

// InputError is returned for errors in the options or in the project files.
type InputError struct{ error }

// Unwrap returns the underlying error.
func (e InputError) Unwrap() error { return e.error }

func inputErrorf(format string, args ...any) error { return InputError{fmt.Errorf(format, args...)} }
