package main

import "testing"

func TestKeepEndsWithItsInput(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	code, _, stderr := assay(t, "control-plane", "keep", "--count=1", "--until-eof") // go test leaves standard input empty
	if code != 0 {
		t.Errorf("got exit code %d, want 0:\n%s", code, stderr)
	}
}
