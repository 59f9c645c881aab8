package main

import (
	"slices"
	"strings"
	"testing"
)

func TestInClusterFlags(t *testing.T) {
	t.Setenv("KUBECONFIG", "none")
	for args, want := range map[string]string{
		"--shards 2":                                   "--shards, --image and --keep-job are for --in-cluster",
		"--keep-job":                                   "--shards, --image and --keep-job are for --in-cluster",
		"--in-cluster":                                 "say with --shards into how many Pods",
		"--in-cluster --shards -1":                     "say with --shards into how many Pods",
		"--in-cluster --shards 2 --shard 1/2":          "--shard is one part of the plans",
		"--in-cluster --shards 2 --check":              "--in-cluster plays all plans",
		"--in-cluster --shards 2 --plan=a":             "--in-cluster plays all plans",
		"--in-cluster --shards 2 --test=true":          "--test is a command of this machine",
		"--in-cluster --shards 2 --install=-":          "no Pod reads this standard input",
		"--in-cluster --shards 2 --image=example.com/": "--image=example.com/ is no name of an image",
		"--in-cluster --shards 2":                      "there is no current context in none",
	} {
		expectRefused(t, want, append([]string{"explore", "--artifacts", t.TempDir()}, strings.Fields(args)...)...)
	}
}

func TestPodArguments(t *testing.T) {
	o := &exploreOptions{subjectOptions: subjectOptions{scenarios: "a.yaml", arguments: []string{"--level=1"}},
		seed: 7, pairs: 2, artifacts: "elsewhere"}
	want := []string{"--in-pod", "--scenarios", "a.yaml", "--seed", "7", "--pairs", "2", "--", "--level=1"}
	if got := o.podArguments(); !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}
