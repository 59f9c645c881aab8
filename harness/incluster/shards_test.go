package incluster

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/operator-assay/assay/harness/results"
)

func shardResult(t *testing.T, shard int) []byte {
	t.Helper()
	var text bytes.Buffer
	noError(t, (results.Exploration{Shard: results.Shard{Index: shard, Of: 3}}).Encode(&text))
	return text.Bytes()
}

func TestInterruptedExplorationRunsMissingShards(t *testing.T) {
	folder, image := t.TempDir(), v1.Image(empty.Image)
	var told strings.Builder
	open := func(image v1.Image, of int, arguments ...string) *shards {
		t.Helper()
		told.Reset()
		s, err := openShards(folder, of, image, arguments, &told)
		noError(t, err)
		return s
	}
	first := open(image, 3, "--seed", "1")
	if got := first.missing(); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("before the first run: got missing shards %v, want 1, 2 and 3", got)
	}
	noError(t, first.keep(2, shardResult(t, 2)))
	if err := first.keep(3, shardResult(t, 1)); err == nil || err.Error() != "the Pod of shard 3/3 has run shard 1/3" {
		t.Errorf("result of another shard: got error %v", err)
	}
	if _, err := first.merge(); err == nil {
		t.Error("an incomplete result was merged")
	}

	again := open(image, 3, "--seed", "1")
	if got := again.missing(); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("after an interruption: got missing shards %v, want 1 and 3", got)
	}
	if told.String() != "" {
		t.Errorf("after an interruption: got message %q, want none", told.String())
	}
	for _, shard := range []int{1, 3} {
		noError(t, again.keep(shard, shardResult(t, shard)))
	}
	if whole, err := again.merge(); err != nil || whole.Shard != (results.Shard{}) {
		t.Errorf("merged: got %+v, %v", whole, err)
	}

	rebuilt, err := mutate.Config(image, v1.Config{User: "1"})
	noError(t, err)
	for what, other := range map[string]func() *shards{
		"another image":   func() *shards { return open(rebuilt, 3, "--seed", "1") },
		"another seed":    func() *shards { return open(image, 3, "--seed", "2") },
		"another number":  func() *shards { return open(image, 2, "--seed", "1") },
		"another of both": func() *shards { return open(rebuilt, 2) },
	} {
		kept := open(image, 3, "--seed", "1")
		noError(t, kept.keep(2, shardResult(t, 2)))
		if missing := other().missing(); !slices.Contains(missing, 2) {
			t.Errorf("%s: the results of the first exploration are used", what)
		}
		if !strings.Contains(told.String(), " of another exploration") {
			t.Errorf("%s: got message %q", what, told.String())
		}
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
