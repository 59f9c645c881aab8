package soak

import (
	"os"
	"testing"
	"time"
)

// durationVariable is how long the operator works, if that is enough for a lap of each process. Without it nothing is tested.
const durationVariable = "SOAK"

const (
	// processes work one after another, each for its share of the time, and end by a kill.
	processes = 2
	// roundsPerLap are the rounds of changes under faults, after which the process is compared with what it was.
	roundsPerLap = 3
)

func TestTheOperatorDoesNotTire(t *testing.T) {
	text := os.Getenv(durationVariable)
	if text == "" {
		t.Skip(durationVariable + " is not set: make soak sets it")
	}
	duration, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", durationVariable, err)
	}
	s := newSoak(t)
	s.create(t)
	for nth := 1; nth <= processes; nth++ {
		end := time.Now().Add(duration / processes)
		s.measure(t) // what a process needs once, such as connections, it has then
		first := s.measure(t)
		t.Logf("process %d, at first: %s", nth, first)
		for lap := 1; lap == 1 || time.Now().Before(end); lap++ {
			for range roundsPerLap {
				s.round(t, s.anything, survivable)
			}
			s.round(t, s.toSample, nil)
			now := s.measure(t)
			t.Logf("process %d, lap %d: %s", nth, lap, now)
			now.expectLike(t, first)
		}
		s.round(t, s.anything, crashing)
		s.killOperator()
		s.round(t, s.toSample, nil)
	}
	s.deleteAll(t)
}
