package faults

// release lets a held watch go on, or break.
func (w *Wire) release() {
	w.mu.Lock()
	held := w.held
	w.held = nil
	w.mu.Unlock()
	close(held.over)
}

// hold is a watch that is held back.
type hold struct {
	target string
	broken bool          // whether the watch ends with it
	over   chan struct{} // closed when it ends
}

// holdOf gives the hold of a resource's watches, nil when they are not held.
func (w *Wire) holdOf(target string) *hold {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held == nil || w.held.target != target {
		return nil
	}
	return w.held
}

// keeps notes that a held watch has something to tell, which is kept from the operator.
func (w *Wire) keeps(h *hold) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held == h {
		w.strike()
		w.last()
	}
}

// saw notes the version up to which the operator knows a resource, as long as nothing holds it back.
func (w *Wire) saw(target, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if version != "" && (w.held == nil || w.held.target != target) {
		w.viewed[target] = version
	}
}

// oldView gives the version from which a new incarnation has to list a resource; empty for any.
func (w *Wire) oldView(target string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held == nil || w.held.target != target || w.lives < 2 {
		return ""
	}
	return w.viewed[target]
}
