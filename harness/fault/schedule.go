package fault

import (
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

type schedule struct {
	journal *Journal
	faults  []*scheduled
	enabled int // the number of faults that can apply
	actions int
}

// scheduled is a fault passed to New or SetFault. enableNext converts its At.Nth to a count from the beginning of the
// run.
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

// match returns the fault that applies to a request, or nil. The second fault takes precedence over the first one,
// which may apply to more than one request.
func (s *schedule) match(request *record.Request, key RequestKey) *scheduled {
	for _, of := range slices.Backward(s.faults[:s.enabled]) {
		if of.appliesTo(request, key) {
			return of
		}
	}
	return nil
}

// trigger records that a fault was triggered, and enables the next fault. Only the first call for a fault has an
// effect. If the next fault is a WatchFault that begins immediately, trigger returns it.
func (s *schedule) trigger(of *scheduled) (begins *scheduled) {
	if !of.triggeredAt.IsZero() {
		return nil
	}
	of.triggeredAt = time.Now()
	if lasting, is := of.Type.(*requestFault); is {
		of.burstUntil = of.triggeredAt.Add(lasting.lasts)
	}
	if of == s.faults[0] {
		s.journal.beginFault()
	}
	return s.enableNext()
}

// enableNext enables the next fault. The At.Nth of the fault counts from now, and enableNext converts it to a count
// from the beginning of the run. If the fault is a WatchFault that begins with the current action, enableNext returns
// the fault.
func (s *schedule) enableNext() (begins *scheduled) {
	if s.enabled == len(s.faults) {
		return nil
	}
	next := s.faults[s.enabled]
	s.enabled++
	if !next.OfWatch() {
		next.At.Nth += s.journal.countOf(next.At)
		return nil
	}
	if next.At.Nth += s.actions - 1; next.At.Nth <= s.actions {
		return next
	}
	return nil
}

// beginAction counts an action and returns the WatchFault that begins with it, or nil.
func (s *schedule) beginAction() *scheduled {
	s.actions++
	s.journal.beginAction()
	for _, of := range s.faults[:s.enabled] {
		if of.OfWatch() && s.actions == of.At.Nth {
			return of
		}
	}
	return nil
}

// Trigger records when and where a fault was first triggered.
type Trigger struct {
	// The fault's At.Nth counts from the beginning of the run.
	Fault
	Time time.Time
}

// Triggers returns the faults that were triggered, in order.
func (in *Injector) Triggers() []Trigger {
	in.mu.Lock()
	defer in.mu.Unlock()
	var all []Trigger
	for _, of := range in.schedule.faults {
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

// SetFault replaces the faults with a new one. It first runs all remaining steps of the previous faults and resumes the
// watches that they paused. The new fault's At.Nth counts the requests after this call. For a WatchFault, At.Nth counts
// actions, starting with the current one.
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
	in.schedule.faults, in.schedule.enabled = []*scheduled{{Fault: next}}, 0
	if begins := in.schedule.enableNext(); begins != nil {
		in.begin(begins)
	}
}

// trigger calls schedule.trigger and begins the WatchFault that it returns. The caller must hold the lock.
func (in *Injector) trigger(of *scheduled) {
	if begins := in.schedule.trigger(of); begins != nil {
		in.begin(begins)
	}
}
