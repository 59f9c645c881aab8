package soak

import (
	"os"
	"testing"
	"time"
)

// durationVariable is the name of the environment variable with the test duration. Each operator process completes at
// least one lap, even if that takes longer.
const durationVariable = "SOAK"

const (
	// processes is the number of operator processes. The test kills each process before it measures the next one.
	processes    = 2
	roundsPerLap = 3
)

func TestResourceUsageDoesNotGrow(t *testing.T) {
	text := os.Getenv(durationVariable)
	if text == "" {
		t.Skip(durationVariable + " is not set: run make soak")
	}
	duration, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", durationVariable, err)
	}
	s := newSoak(t)
	s.create(t)
	for nth := 1; nth <= processes; nth++ {
		end := time.Now().Add(duration / processes)
		s.measure(t) // warm up, for example to open connections
		first := s.measure(t)
		t.Logf("process %d, first sample: %s", nth, first)
		for lap := 1; lap == 1 || time.Now().Before(end); lap++ {
			for range roundsPerLap {
				s.round(t, s.randomChange, survivable)
			}
			s.round(t, s.toSample, nil)
			now := s.measure(t)
			t.Logf("process %d, lap %d: %s", nth, lap, now)
			now.expectLike(t, first)
		}
		s.round(t, s.randomChange, crashing)
		s.killOperator()
		s.round(t, s.toSample, nil)
	}
	s.deleteAll(t)
}
