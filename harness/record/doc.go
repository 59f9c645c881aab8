// Package record records what happens during a test: the requests that an operator sends (Recorder) and the versions of
// all watched objects (History). Package oracle evaluates these records.
//
// The package also waits for activity to end. Recorder.WaitIdle waits until the operator stops sending requests.
// History.WaitStable waits until objects stop changing.
package record
