package fault

import (
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// scheduled is a fault passed to New or SetFault. enableNext converts At.Nth to a count from the start of the run.
type scheduled struct {
	Fault
	triggeredAt time.Time // when it first applied
	burstUntil  time.Time // the end of the burst
}

func (s *scheduled) appliesTo(request *record.Request, key RequestKey) bool {
	of, is := s.Type.(*requestFault)
	if !is || of.appliesTo != nil {
		return is && of.appliesTo(request)
	}
	at := s.At
	if time.Now().Before(s.burstUntil) {
		at.Nth = key.Nth
	}
	return key == at
}

// match counts a request. It returns the key of the request and the type of the fault that applies to it, or None. If
// both faults apply, it returns the type of the second one, so that a burst of errors cannot hide it.
func (in *Injector) match(request *record.Request) (RequestKey, Type) {
	in.mu.Lock()
	defer in.mu.Unlock()
	key := in.Journal.count(request)
	for _, of := range slices.Backward(in.faults[:in.enabled]) {
		if of.appliesTo(request, key) {
			in.trigger(of)
			return key, of.Type
		}
	}
	return key, None
}

// trigger records that a fault was triggered, and enables the next fault. Only the first call for a fault has an
// effect. The caller must hold the lock.
func (in *Injector) trigger(of *scheduled) {
	if !of.triggeredAt.IsZero() {
		return
	}
	of.triggeredAt = time.Now()
	if lasting, is := of.Type.(*requestFault); is {
		of.burstUntil = of.triggeredAt.Add(lasting.lasts)
	}
	if of == in.faults[0] {
		in.Journal.beginFault()
	}
	in.enableNext()
}

// enableNext enables the next fault. It converts the fault's At.Nth, which counts from now, to a count from the
// beginning of the run. The caller must hold the lock.
func (in *Injector) enableNext() {
	if in.enabled == len(in.faults) {
		return
	}
	next := in.faults[in.enabled]
	in.enabled++
	if !next.OfWatch() {
		next.At.Nth += in.Journal.countOf(next.At)
	} else if next.At.Nth += in.actions - 1; next.At.Nth <= in.actions {
		in.begin(next)
	}
}

// Trigger records when and where a fault was first triggered.
type Trigger struct {
	Fault // its At.Nth counts from the beginning of the run
	Time  time.Time
}

// Triggers returns the faults that were triggered, in order.
func (in *Injector) Triggers() []Trigger {
	in.mu.Lock()
	defer in.mu.Unlock()
	var all []Trigger
	for _, of := range in.faults {
		if !of.triggeredAt.IsZero() {
			all = append(all, Trigger{of.Fault, of.triggeredAt})
		}
	}
	return all
}

// TriggeredAt returns the time at which the first fault was first triggered, or the zero time.
func (in *Injector) TriggeredAt() time.Time {
	if all := in.Triggers(); len(all) > 0 {
		return all[0].Time
	}
	return time.Time{}
}

// SetFault replaces the faults with a new one. It first runs the remaining steps of the previous faults and resumes the
// watches that they paused. The new fault's At.Nth counts only requests from now on. For faults that target an action,
// 1 is the current action.
func (in *Injector) SetFault(next Fault) {
	for in.Release() {
	}
	in.mu.Lock()
	view := in.watches.current
	in.mu.Unlock()
	if view != nil {
		view.resume()
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.watches.current = nil
	in.faults, in.enabled = []*scheduled{{Fault: next}}, 0
	in.enableNext()
}
