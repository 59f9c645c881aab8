package images

import (
	"regexp"
	"testing"
	"testing/fstest"
)

func TestNodeImageName(t *testing.T) {
	if name := nodeImageName("v1.37.0"); !regexp.MustCompile(`^assay/kind-node:v1\.37\.0-[0-9a-f]{8}$`).MatchString(name) {
		t.Errorf("got %s", name)
	}
}

func TestFingerprintIgnoresTests(t *testing.T) {
	recipe := func() fstest.MapFS {
		return fstest.MapFS{"setup.sh": {Data: []byte("a")}, "make.go": {Data: []byte("b")}, "make_test.go": {Data: []byte("c")}}
	}
	original := fingerprint(recipe())
	for name, test := range map[string]struct {
		file    string
		changes bool
	}{
		"script": {"setup.sh", true},
		"source": {"make.go", true},
		"test":   {"make_test.go", false},
		"new":    {"node/etc/new", true},
	} {
		changed := recipe()
		changed[test.file] = &fstest.MapFile{Data: []byte("changed")}
		if (fingerprint(changed) != original) != test.changes {
			t.Errorf("%s: got fingerprint %s, original %s, want changed: %t", name, fingerprint(changed), original, test.changes)
		}
	}
}
