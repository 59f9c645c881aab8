package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/operator-assay/assay/harness/report/results"
)

func shardResult(t *testing.T, shard int) []byte {
	t.Helper()
	var text bytes.Buffer
	noError(t, (results.Exploration{Shard: results.Shard{Index: shard, Of: 3}}).Encode(&text))
	return text.Bytes()
}

func TestAnInterruptedExplorationPlaysOnlyWhatIsMissing(t *testing.T) {
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
	if got := first.missing(); !slices.Equal(got, []int{1, 2, 3}) || first.note() != "no shard is there yet" {
		t.Errorf("before the first run %v are missing: %s", got, first.note())
	}
	noError(t, first.keep(2, shardResult(t, 2)))
	if err := first.keep(3, shardResult(t, 1)); err == nil || err.Error() != "the Pod of shard 3/3 has played shard 1/3" {
		t.Errorf("another shard's result: %v", err)
	}
	if _, err := first.merge(); err == nil {
		t.Error("a part was merged to a whole")
	}

	again := open(image, 3, "--seed", "1")
	if got := again.missing(); !slices.Equal(got, []int{1, 3}) || again.note() != "shard 2 of 3 is there already" {
		t.Errorf("after an interruption %v are missing: %s", got, again.note())
	}
	if told.String() != "" {
		t.Errorf("after an interruption it tells %q", told.String())
	}
	for _, shard := range []int{1, 3} {
		noError(t, again.keep(shard, shardResult(t, shard)))
	}
	if whole, err := again.merge(); err != nil || whole.Shard != (results.Shard{}) {
		t.Errorf("the whole is %+v: %v", whole, err)
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
			t.Errorf("%s takes the results of the first", what)
		}
		if !strings.HasPrefix(told.String(), "note: ") || !strings.HasSuffix(told.String(), "removed\n") {
			t.Errorf("%s tells %q", what, told.String())
		}
	}
}
