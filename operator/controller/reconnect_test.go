package controller

import (
	"context"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// refusing is a server that nobody listens for until a moment.
type refusing struct {
	until    time.Time
	err      error
	attempts int
}

func (r *refusing) RoundTrip(*http.Request) (*http.Response, error) {
	r.attempts++
	if time.Now().Before(r.until) {
		return nil, r.err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestAWatchIsOpenSoonAfterTheAPIServerIsBack(t *testing.T) {
	for name, test := range map[string]struct {
		query    string
		err      error
		attempts int
		fails    bool
	}{
		"a watch":                          {"?watch=true", syscall.ECONNREFUSED, 601, false},
		"a read, whose caller retries":     {"", syscall.ECONNREFUSED, 1, true},
		"a watch at a server that is busy": {"?watch=true", syscall.ECONNRESET, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &refusing{until: time.Now().Add(10 * time.Minute), err: test.err}
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://server/api/v1/pods"+test.query, nil)
				if err != nil {
					t.Fatal(err)
				}
				response, err := reconnecting{server}.RoundTrip(request)
				if (err != nil) != test.fails || server.attempts != test.attempts {
					t.Fatalf("after %d attempts: %v", server.attempts, err)
				}
				if err != nil {
					return
				}
				defer response.Body.Close()
				if late := time.Since(server.until); late > reconnectInterval {
					t.Errorf("the watch is open %s after the API server's return", late)
				}
			})
		})
	}
}

// TestIdleConnectionsCanBeClosed: client-go looks for the transport below whatever is around it.
func TestIdleConnectionsCanBeClosed(t *testing.T) {
	below := &closing{}
	utilnet.CloseIdleConnectionsFor(reconnecting{below})
	if !below.closed {
		t.Error("they stay open")
	}
}

type closing struct {
	refusing
	closed bool
}

func (c *closing) CloseIdleConnections() { c.closed = true }

func TestAWatchThatIsNoLongerWantedIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &refusing{until: time.Now().Add(time.Hour), err: syscall.ECONNREFUSED}
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://server/api/v1/pods?watch=true", nil)
		if err != nil {
			t.Fatal(err)
		}
		if response, err := (reconnecting{server}).RoundTrip(request); err == nil {
			response.Body.Close()
			t.Error("it was answered")
		}
		if server.attempts > 91 {
			t.Errorf("%d attempts in 90 s", server.attempts)
		}
	})
}
