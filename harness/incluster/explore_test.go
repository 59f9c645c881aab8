package incluster

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
)

func TestAdviceRunsMissingShards(t *testing.T) {
	e := Exploration{Artifacts: "my report", Shards: 4, Arguments: []string{"--seed", "1", "--", "--name=a b"}}
	want := "to run the missing shards on this machine and merge the results, run:\n" +
		"for i in 2 4; do assay explore --shard $i/4 --artifacts 'my report/shards'/$i --seed 1 -- '--name=a b'; done; " +
		"assay report merge --artifacts 'my report' 'my report/shards'/*"
	if got := e.adviceFor(sets.New(4, 2)); got == nil || got.Error() != want {
		t.Errorf("got\n%v, want\n%s", got, want)
	}
	if got := e.adviceFor(sets.New(1, 2, 3, 4)); got != nil {
		t.Errorf("got %v, want no advice if no shard is complete", got)
	}
}
