package controller

import (
	"testing"
	"time"
)

// TestDurationsFitIntoEachOther: one that is changed by itself may undo what another is for.
func TestDurationsFitIntoEachOther(t *testing.T) {
	const webhook = 10 * time.Second // which an admission webhook may take by default
	for what, holds := range map[string]bool{
		"a reconcile has the time that the writes of both children and the reads around them may take": reconcileTimeout >= 2*childWriteTimeout+2*cacheReadTimeout,
		"a reconcile that hangs holds its worker for no more than half a minute":                       reconcileTimeout <= 30*time.Second,
		"a write is given up before a webhook that hangs":                                              childWriteTimeout < webhook,
		"a write that was given up makes its namespace a slow one":                                     slowReconcile < childWriteTimeout,
		"a cache that is late does not":                                                                slowReconcile > cacheReadTimeout,
		"a namespace is still slow when its writes are tried again":                                    slowNamespace > maxDelay+reconcileTimeout-childWriteTimeout,
		"a namespace whose webhook works again is soon as fast as others":                              slowNamespace <= time.Minute,
		"work under way ends when the manager is told to end":                                          ShutdownTimeout > childWriteTimeout,
		"a status is not held back longer than a person waits":                                         debounceMax < 2*time.Second && debounceQuiet < debounceMax,
		"a contested field is left alone for longer than an accident takes":                            repairInterval > transientFailure,
		"the first retries come within a blink, and not at once":                                       baseDelay < 20*time.Millisecond && baseDelay > time.Millisecond,
		"a request that found no worker comes again before anybody notices, and not all the time":      slowRetry <= time.Second/2 && slowRetry >= 100*time.Millisecond,
	} {
		if !holds {
			t.Errorf("it does not hold that %s", what)
		}
	}
}
