// Package record keeps what happened in a test: every request that an operator sent (Recorder, Requests)
// and every version of the objects that a watch delivered (History). It judges nothing; package oracle does.
//
// It also waits, because only a record knows when something ended: Recorder.WaitIdle for an operator that
// sends no more requests, History.WaitStable and ResourceLister.WaitUnchanged for objects that no longer
// change. ResourceLister lists the objects of a namespace, of every kind that the API server has.
package record
