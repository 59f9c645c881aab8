#!/usr/bin/env bash
# Runs `make test` on the newest version of the Kubernetes minor after K8S_VERSION, including release candidates and
# betas. If none is published yet, it says so.
set -euo pipefail
minor=$(cut -d. -f2 <<<"$K8S_VERSION")
versions=$(cd / && GOFLAGS=-mod=mod go list -m -versions k8s.io/kubernetes) # outside this module, whose go.mod restricts the versions
next=$(tr ' ' '\n' <<<"$versions" | { grep "^v1\.$((minor + 1))\." || true; } | tail -1)
[ -n "$next" ] || { echo "no Kubernetes after $K8S_VERSION is published yet"; exit 0; }

# Export the version to the later steps of a GitHub job.
[ -z "${GITHUB_ENV:-}" ] || echo "K8S_VERSION=$next" >>"$GITHUB_ENV"
# A new minor may require a newer Go version than set-up installs.
GOTOOLCHAIN=auto make test K8S_VERSION="$next"
