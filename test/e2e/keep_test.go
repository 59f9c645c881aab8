package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// keep is what E2E_KEEP says of a cluster that this run has made: "never" keep it, keep it when
// something has "failed", or "always".
var keep = "never"

func readKeep() error {
	words := []string{"never", "failed", "always"}
	if word := os.Getenv("E2E_KEEP"); word != "" {
		keep = word
	}
	if !slices.Contains(words, keep) {
		return fmt.Errorf("E2E_KEEP=%s: choose one of %s", keep, strings.Join(words, ", "))
	}
	return nil
}

// keepCluster decides at the end of a run.
func keepCluster() bool {
	return keep == "always" || keep == "failed" && told.HasFailed()
}
