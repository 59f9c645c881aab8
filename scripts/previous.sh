#!/usr/bin/env bash
# Builds the operator of a previous revision of git, $1, and its CRDs and role, into the folder $2. By default that is the
# last tag before this commit.
set -euo pipefail
revision=$1 into=$2
# Nothing is released yet: this is the operator before it applied on what it had read.
first=40eb77f

if [ -z "$revision" ]; then
  revision=$(git describe --tags --abbrev=0 --match 'v*.*.*' HEAD^ 2>/dev/null) || revision=$first
fi
commit=$(git rev-parse --verify --quiet "$revision^{commit}") ||
  { echo "PREVIOUS=$revision is not in this clone: fetch it, by \`git fetch --tags --unshallow\` where the clone is shallow" >&2; exit 1; }
echo "previous   $revision, $(git log -1 --format='%h %s' "$commit")"
rm -rf "$into" && mkdir -p "$into/source"
git archive "$commit" | tar -x -C "$into/source"
go -C "$into/source" build -o ../manager ./operator
cp -r "$into/source/operator/config/crd/bases" "$into/crds"
cp "$into/source/operator/config/rbac/role.yaml" "$into/role.yaml"
rm -rf "$into/source"
