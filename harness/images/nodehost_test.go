package images

import (
	"strings"
	"testing"
)

func TestCheckUserNamesAlternatives(t *testing.T) {
	for _, test := range []struct {
		system string
		user   int
		want   []string
	}{
		{"linux", 0, nil},
		{"linux", 1000, []string{"root", "sudo env PATH", "E2E_NODE_IMAGE", "v1.37.0"}},
		{"darwin", 501, []string{"Linux", "darwin", "E2E_PROVIDER=kwok", "E2E_NODE_IMAGE", "v1.37.0"}},
		{"darwin", 0, []string{"Linux"}},
	} {
		err := checkUser(test.system, test.user, "v1.37.0")
		if (err == nil) != (test.want == nil) || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("user %d on %s: got error %v, want a single line with %q", test.user, test.system, err, test.want)
		}
		for _, want := range test.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("user %d on %s: got error %v, want it to contain %q", test.user, test.system, err, want)
			}
		}
	}
}
