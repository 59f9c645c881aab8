package subject

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"al.essio.dev/pkg/shellescape"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/operator-assay/assay/harness/invent"
)

// planeError is why a control plane has not started. What it refuses is a CRD, which is the user's mistake.
func planeError(err error) error {
	if refused, is := errors.AsType[*apierrors.StatusError](err); is && apierrors.IsInvalid(refused) {
		return inputErrorf("the API server refuses a CRD: %w: correct it, or name other CRDs with --crds", refused)
	}
	return err
}

// Explain adds to the error of an operator that does not work without a fault what to look at next. What the API server
// refuses of the user's files is their mistake.
func (s *Subject) Explain(err error) error {
	if _, refused := errors.AsType[invent.RefusedError](err); refused {
		return InputError{err}
	}
	if _, is := errors.AsType[InputError](err); is {
		return err
	}
	path := s.operator.binary
	if s.isBuilt(s.operator) {
		path = filepath.Base(path)
	}
	next := "the operator was started as: " + shellescape.QuoteCommand(append([]string{path}, s.operator.container("NAMESPACE", "").Arguments...)) + "; arguments after -- replace those"
	if s.hasTests() {
		next = "a test has to pass without a fault, with the variables KUBECONFIG and NAMESPACE that it gets; " + next
	}
	return explained{err, next}
}

// explained is an error with a last line that says what to look at.
type explained struct {
	error
	next string
}

func (e explained) Error() string { return strings.TrimSpace(e.error.Error()) + "\n" + e.next }

func (e explained) Unwrap() error { return e.error }

// InputError is a mistake in the options or in a file of the project.
type InputError struct{ error }

// Unwrap returns the mistake itself.
func (e InputError) Unwrap() error { return e.error }

func inputErrorf(format string, args ...any) error { return InputError{fmt.Errorf(format, args...)} }
