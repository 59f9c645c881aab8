package incluster

import "testing"

func TestRerunCommandRunsMissingShards(t *testing.T) {
	e := Exploration{Artifacts: "my report", Shards: 4, Arguments: []string{"--seed", "1", "--", "--name=a b"}}
	got := e.rerunCommand(map[int]string{1: "my report/shards/1", 3: "my report/shards/3"})
	want := "for i in 2 4; do assay explore --shard $i/4 --artifacts 'my report/shards'/$i --seed 1 -- '--name=a b'; done; " +
		"assay report merge --artifacts 'my report' 'my report/shards'/*"
	if got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}
