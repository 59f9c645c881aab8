#!/usr/bin/env bash
# Prints the newest version of the Kubernetes minor after K8S_VERSION, release candidates and betas included;
# nothing when none is published yet.
set -euo pipefail
minor=$(cut -d. -f2 <<<"$K8S_VERSION")
cd / # outside of this module, which has no say in it

versions=$(GOFLAGS=-mod=mod go list -m -versions k8s.io/kubernetes)
tr ' ' '\n' <<<"$versions" | { grep "^v1\.$((minor + 1))\." || true; } | tail -1
