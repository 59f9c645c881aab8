package fault

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// dealt is a fault of a run. When it is armed, At.Nth counts from the beginning of the run.
type dealt struct {
	Fault
	triggeredAt time.Time // when it first applied
	burstUntil  time.Time // until when it applies to further requests of the key
}

// appliesTo tells whether the fault applies to a request, which is the nth of its key.
func (f *dealt) appliesTo(request *record.Request, key RequestKey) bool {
	switch {
	case f.Type.OfWatch():
		return false
	case f.Type == SlowReads:
		return request.Verb == "get" || request.Verb == "list"
	case f.Type == SlowWrites:
		return request.IsWrite()
	}
	at := f.At
	if time.Now().Before(f.burstUntil) {
		at.Nth = key.Nth
	}
	return key == at
}

// Trigger is when and where a fault first applied.
type Trigger struct {
	// Fault has an At.Nth that counts from the beginning of the run.
	Fault
	Time time.Time
}

// Triggers are those of the faults that have applied, in order.
func (in *Injector) Triggers() []Trigger {
	in.mu.Lock()
	defer in.mu.Unlock()
	var all []Trigger
	for _, fault := range in.faults {
		if !fault.triggeredAt.IsZero() {
			all = append(all, Trigger{fault.Fault, fault.triggeredAt})
		}
	}
	return all
}

// TriggeredAt returns when the first fault first applied; the zero time if it has not.
func (in *Injector) TriggeredAt() time.Time {
	if all := in.Triggers(); len(all) > 0 {
		return all[0].Time
	}
	return time.Time{}
}

// Aftermath are the writes that followed when the first fault had applied, in order, until the scenario's next action. They
// are counted from there, as New counts those of a second fault.
func (in *Injector) Aftermath() []RequestKey {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.aftermath)
}

// SetFault replaces the faults. At.Nth counts from the next request, and a watch is paused at once. What waits for
// Release is released before.
func (in *Injector) SetFault(fault Fault) {
	for in.Release() {
	}
	in.resumeWatch()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.faults, in.armed, in.past = []*dealt{{Fault: fault}}, 0, nil
	in.arm()
}

// arm has the next fault apply from now on, if there is one. The caller holds the lock.
func (in *Injector) arm() {
	if in.armed == len(in.faults) {
		return
	}
	next := in.faults[in.armed]
	in.armed++
	if !next.Type.OfWatch() {
		at := next.At
		at.Nth = 0
		next.At.Nth += in.counts[at]
		return
	}
	if next.At.Nth += in.actions - 1; next.At.Nth <= in.actions {
		in.pauseWatch(next)
	}
}

// match counts a request, and returns the fault type that applies to it, or None. The later of two faults comes first: the
// other one may apply for long.
func (in *Injector) match(request *record.Request) (RequestKey, Type) {
	in.mu.Lock()
	defer in.mu.Unlock()
	key := RequestKey{Verb: request.Verb, Target: request.Target(), Name: cmp.Or(in.normalized(request.Name), "-")}
	in.counts[key]++
	key.Nth = in.counts[key]
	for _, fault := range slices.Backward(in.faults[:in.armed]) {
		if fault.appliesTo(request, key) {
			in.trigger(fault)
			return key, fault.Type
		}
	}
	return key, None
}

// trigger records when a fault first applies, and arms the next. The caller holds the lock.
func (in *Injector) trigger(fault *dealt) {
	if !fault.triggeredAt.IsZero() {
		return
	}
	fault.triggeredAt = time.Now()
	if slices.Contains(bursts, fault.Type) {
		fault.burstUntil = fault.triggeredAt.Add(burstDuration)
	}
	if fault == in.faults[0] {
		in.countsBefore = maps.Clone(in.counts)
	}
	in.arm()
}
