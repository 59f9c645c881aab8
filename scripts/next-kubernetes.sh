#!/usr/bin/env bash
# Prints the newest version of the Kubernetes minor after K8S_VERSION, release candidates and betas included;
# nothing when none is published yet.
set -euo pipefail
minor=$(cut -d. -f2 <<<"$K8S_VERSION")
cd / # outside of this module, which has no say in it

said=$(GOFLAGS=-mod=mod go list -m "k8s.io/kubernetes@v1.$((minor + 1))" 2>&1) || {
  if grep -q 'no matching versions' <<<"$said"; then exit; fi
  echo "$said" >&2
  exit 1
}
echo "${said##* }"
