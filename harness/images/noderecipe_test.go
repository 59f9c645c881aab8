package images

import (
	"regexp"
	"testing"
)

func TestNodeImageName(t *testing.T) {
	if name, err := nodeImageName("v1.37.0"); err != nil || !regexp.MustCompile(`^assay/kind-node:v1\.37\.0-[0-9a-f]{8}$`).MatchString(name) {
		t.Errorf("got %s, %v", name, err)
	}
}
