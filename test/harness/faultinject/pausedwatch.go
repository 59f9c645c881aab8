package faultinject

// resumeWatch lets a held watch go on, or break.
func (w *Injector) resumeWatch() {
	w.mu.Lock()
	held := w.paused
	w.paused = nil
	w.mu.Unlock()
	close(held.resumed)
}

// pausedWatch is a watch that is held back.
type pausedWatch struct {
	target  string
	expire  bool          // whether the watch ends with it
	resumed chan struct{} // closed when it ends
}

// pausedWatchOf gives the hold of a resource's watches, nil when they are not held.
func (w *Injector) pausedWatchOf(target string) *pausedWatch {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paused == nil || w.paused.target != target {
		return nil
	}
	return w.paused
}

// markWithheld notes that a held watch has something to tell, which is kept from the operator.
func (w *Injector) markWithheld(h *pausedWatch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paused == h {
		w.trigger()
		w.signalPending()
	}
}

// setObservedVersion notes the version up to which the operator knows a resource, as long as nothing holds it back.
func (w *Injector) setObservedVersion(target, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if version != "" && (w.paused == nil || w.paused.target != target) {
		w.observedVersions[target] = version
	}
}

// staleVersion gives the version from which a new incarnation has to list a resource; empty for any.
func (w *Injector) staleVersion(target string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paused == nil || w.paused.target != target || w.starts < 2 {
		return ""
	}
	return w.observedVersions[target]
}
