#!/usr/bin/env bash
# Usage: previous.sh REVISION FOLDER. Builds the operator of a previous revision and copies its CRDs and role to FOLDER.
# If REVISION is empty, it uses the last tag before this commit.
set -euo pipefail
revision=$1 into=$2
# Used until the first release: an operator that updates its children in a different way.
first=40eb77f

if [ -z "$revision" ]; then
  revision=$(git describe --tags --abbrev=0 --match 'v*.*.*' HEAD^ 2>/dev/null) || revision=$first
fi
commit=$(git rev-parse --verify --quiet "$revision^{commit}") ||
  { echo "PREVIOUS=$revision does not exist in this clone: fetch it, for example with \`git fetch --tags --unshallow\`" >&2; exit 1; }
echo "previous   $revision, $(git log -1 --format='%h %s' "$commit")"
rm -rf "$into" && mkdir -p "$into/source"
git archive "$commit" | tar -x -C "$into/source"
go -C "$into/source" build -o ../manager ./operator
cp -r "$into/source/operator/config/crd/bases" "$into/crds"
cp "$into/source/operator/config/rbac/role.yaml" "$into/role.yaml"
rm -rf "$into/source"
