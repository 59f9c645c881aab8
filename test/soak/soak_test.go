package soak

import (
	"os"
	"testing"
	"time"
)

// durationVariable is how long the operator works. Without it nothing is tested.
const durationVariable = "SOAK"

// A life is that of one process, which ends by a kill. Each has this many laps, and each of those this many rounds of changes
// under faults.
const (
	lapsPerLife  = 4
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
	end := time.Now().Add(duration)
	for life := 1; life == 1 || time.Now().Before(end); life++ {
		s.measure(t) // what a process needs once, such as connections, it has then
		first := s.measure(t)
		for lap := 1; lap <= lapsPerLife; lap++ {
			for range roundsPerLap {
				s.round(t, s.anything, survivable)
			}
			s.round(t, s.toSample, nil)
			now := s.measure(t)
			t.Logf("life %d, lap %d: %s", life, lap, now)
			now.expectLike(t, first)
		}
		s.round(t, s.anything, crashing)
		s.killOperator()
		s.round(t, s.toSample, nil)
	}
	s.deleteAll(t)
}
