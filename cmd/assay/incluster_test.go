package main

import (
	"slices"
	"strings"
	"testing"
)

func TestInClusterFlags(t *testing.T) {
	t.Setenv("KUBECONFIG", "none")
	for args, want := range map[string]string{
		"--shards 2":                                   "--shards, --image and --keep-job require --in-cluster",
		"--keep-job":                                   "--shards, --image and --keep-job require --in-cluster",
		"--in-cluster":                                 "set --shards to the number of Pods",
		"--in-cluster --shards -1":                     "set --shards to the number of Pods",
		"--in-cluster --shards 2 --shard 1/2":          "[in-cluster shard] were all set",
		"--in-cluster --shards 2 --check":              "[check in-cluster] were all set",
		"--in-cluster --shards 2 --plan=a":             "[in-cluster plan] were all set",
		"--in-cluster --shards 2 --test=true":          "[in-cluster test] were all set",
		"--in-cluster --shards 2 --install=-":          "a Pod cannot read the standard input",
		"--in-cluster --shards 2 --image=example.com/": "--image=example.com/ is not a valid image name",
		"--in-cluster --shards 2":                      "there is no current context in none",
	} {
		expectRefused(t, want, append([]string{"explore", "--artifacts", t.TempDir()}, strings.Fields(args)...)...)
	}
}

func TestShardArguments(t *testing.T) {
	o := &exploreOptions{subjectOptions: subjectOptions{scenarios: "a.yaml", arguments: []string{"--level=1"}},
		seed: 7, pairs: 2}
	want := []string{"--scenarios", "a.yaml", "--seed", "7", "--pairs", "2", "--", "--level=1"}
	if got := o.shardArguments(); !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}
