package cluster

import "testing"

func TestOpenKeepsStateIfRemoveFails(t *testing.T) {
	own(t)
	killed := state{Options: Options{Provider: Kind, KubernetesVersion: "v1.37.0"}}
	leaveState(t, "mine", killed)
	fakeDocker(t, noEngine)

	_, err := Open(t.Context(), Options{Provider: KWOK, Name: "mine"})
	expectRefusal(t, err, `kind cluster "mine" already exists and cannot be removed`, "Is the docker daemon running?", "choose another "+nameOption)

	d, err := lockStateDir("mine")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.unlock() }()
	if found, err := d.read(); err != nil || found == nil || *found != killed {
		t.Errorf("got state %+v (error %v), want %+v", found, err, killed)
	}
}
