package controller

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestANoteFitsIntoAnEvent(t *testing.T) {
	short := strings.Repeat("ü", maxEventNote/len("ü"))
	if truncate(short, maxEventNote) != short {
		t.Error("what fits is cut")
	}
	for _, long := range []string{short + "!", "!" + short, strings.Repeat("x", 10*maxEventNote)} {
		if cut := truncate(long, maxEventNote); len(cut) > maxEventNote || len(cut) < maxEventNote-len("ü…") || !strings.HasSuffix(cut, "…") || !utf8.ValidString(cut) {
			t.Errorf("%d bytes became %d: %q", len(long), len(cut), cut)
		}
	}
}
