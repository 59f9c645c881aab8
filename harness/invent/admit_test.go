package invent

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestSampleToConvertIsNotRefused(t *testing.T) {
	toConvert := apierrors.NewInternalError(errors.New("conversion webhook for apps.example.com/v1beta3, Kind=Plugin failed: no operator is running that can convert the object"))
	for err, want := range map[error]bool{nil: false, toConvert: false, apierrors.NewBadRequest("a"): true} {
		if _, got := errors.AsType[RefusedError](refusal(err)); got != want {
			t.Errorf("%v: got refused %t, want %t", err, got, want)
		}
	}
}
