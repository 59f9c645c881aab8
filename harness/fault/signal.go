package fault

import "context"

// signal is a notification that is sent once. Calling send again has no effect.
type signal struct {
	context.Context // canceled when the signal is sent
	send            context.CancelFunc
}

func newSignal() signal {
	ctx, cancel := context.WithCancel(context.Background())
	return signal{ctx, cancel}
}

func (s signal) isSent() bool { return s.Err() != nil }
