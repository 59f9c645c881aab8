package images

import (
	"strings"
	"testing"
)

func TestTooSmallADiskIsNamed(t *testing.T) {
	if err := checkSpace(t.TempDir(), 1); err != nil {
		t.Error(err)
	}
	folder := t.TempDir()
	err := checkSpace(folder, 1<<62)
	if err == nil || !strings.Contains(err.Error(), folder) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

func TestWhoCannotMakeAnImageIsToldWhatToDo(t *testing.T) {
	for _, test := range []struct {
		system string
		user   int
		says   string
	}{
		{"linux", 0, ""},
		{"linux", 1000, "takes root, once: run `sudo"},
		{"darwin", 501, "takes Linux, and this is darwin: set E2E_PROVIDER=kwok, or E2E_NODE_IMAGE"},
		{"darwin", 0, "takes Linux"},
	} {
		err := checkUser(test.system, test.user, "v1.37.0")
		if (err == nil) != (test.says == "") || err != nil && (!strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("user %d on %s: got %v", test.user, test.system, err)
		}
	}
}
