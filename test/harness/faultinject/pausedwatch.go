package faultinject

// resumeWatch lets a held watch go on, or break.
func (in *Injector) resumeWatch() {
	in.mu.Lock()
	held := in.paused
	in.paused = nil
	in.mu.Unlock()
	close(held.resumed)
}

// pausedWatch is a watch that is held back.
type pausedWatch struct {
	target  string
	expire  bool          // whether the watch ends with it
	resumed chan struct{} // closed when it ends
}

// pausedWatchOf gives the hold of a resource's watches, nil when they are not held.
func (in *Injector) pausedWatchOf(target string) *pausedWatch {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.paused == nil || in.paused.target != target {
		return nil
	}
	return in.paused
}

// markWithheld notes that a held watch has something to tell, which is kept from the operator.
func (in *Injector) markWithheld(h *pausedWatch) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.paused == h {
		in.trigger()
		in.signalPending()
	}
}

// setObservedVersion notes the version up to which the operator knows a resource, as long as nothing holds it back.
func (in *Injector) setObservedVersion(target, version string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if version != "" && (in.paused == nil || in.paused.target != target) {
		in.observedVersions[target] = version
	}
}

// staleVersion gives the version from which a new incarnation has to list a resource; empty for any.
func (in *Injector) staleVersion(target string) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.paused == nil || in.paused.target != target || in.starts < 2 {
		return ""
	}
	return in.observedVersions[target]
}
