package fault

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// TestWatchOfEndedInstanceIsDisconnected ends a watch and its instance at the same time. The watch must fail with
// errDisconnected instead of ending normally.
func TestWatchOfEndedInstanceIsDisconnected(t *testing.T) {
	for range 50 {
		_, instance := New(Scope{}).NewInstance(&rest.Config{})
		watch := newStream(instance, "configmaps", &http.Response{Body: io.NopCloser(strings.NewReader(""))})
		instance.End()
		if _, err := watch.Read(make([]byte, 1)); !errors.Is(err, errDisconnected) {
			t.Fatalf("got %v, want %v", err, errDisconnected)
		}
	}
}
