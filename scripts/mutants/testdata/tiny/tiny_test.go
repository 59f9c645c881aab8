package tiny

import "testing"

func TestLess(t *testing.T) {
	if !less(1, 2) || less(2, 1) {
		t.Error("got the wrong order")
	}
	if !testing.Short() && less(1, 1) {
		t.Error("got 1 < 1")
	}
}
