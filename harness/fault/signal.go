package fault

import "context"

// signal is a notification that is sent once. Calling send again has no effect.
type signal struct {
	context.Context // canceled when the signal is sent
	send            context.CancelFunc
}

// newSignal returns a signal that is also sent when the parent is canceled.
func newSignal(parent context.Context) signal {
	ctx, cancel := context.WithCancel(parent)
	return signal{ctx, cancel}
}

func (s signal) isSent() bool { return s.Err() != nil }
