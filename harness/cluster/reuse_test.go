package cluster

import (
	"path/filepath"
	"testing"
)

func TestOpenKeepsStateIfRemoveFails(t *testing.T) {
	d := &stateDir{dir: filepath.Join(own(t), "mine")}
	killed := state{Options: Options{Provider: Kind, KubernetesVersion: "v1.37.0"}}
	noError(t, d.write(killed))
	fakeDocker(t, noEngine)

	_, err := Open(t.Context(), Options{Provider: KWOK, Name: "mine"})
	expectRefusal(t, err, `kind cluster "mine" already exists and cannot be removed`, "Is the docker daemon running?", "choose another "+nameOption)
	if found, err := d.read(); err != nil || found == nil || *found != killed {
		t.Errorf("got state %+v (error %v), want %+v", found, err, killed)
	}
}
