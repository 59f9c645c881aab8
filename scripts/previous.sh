#!/usr/bin/env bash
# Usage: previous.sh REVISION PREVIOUS TODAY. Builds the operator of an earlier revision in the directory PREVIOUS, and the
# current one in TODAY, each with its CRDs and its role. If REVISION is empty, it uses the last tag before this commit.
set -euo pipefail
revision=$1 into=$2 today=$3
# Until the first release, use this revision. Its operator updates the children in a different way.
first=40eb77f

if [ -z "$revision" ]; then
  revision=$(git describe --tags --abbrev=0 --match 'v*.*.*' HEAD^ 2>/dev/null) || revision=$first
fi
commit=$(git rev-parse --verify --quiet "$revision^{commit}") ||
  { echo "PREVIOUS=$revision does not exist in this clone: fetch it, for example with \`git fetch --tags --unshallow\`" >&2; exit 1; }
echo "previous   $revision, $(git log -1 --format='%h %s' "$commit")"

# build SOURCE INTO builds the operator of a source tree.
build() {
  mkdir -p "$2"
  go -C "$1" build -o "$(realpath "$2")/manager" ./operator
  cp -r "$1/operator/config/crd/bases" "$2/crds"
  cp "$1/operator/config/rbac/role.yaml" "$2/role.yaml"
}
rm -rf "$into" "$today" _artifacts/upgrade
mkdir -p "$into/source"
git archive "$commit" | tar -x -C "$into/source"
build "$into/source" "$into"
rm -rf "$into/source"
build . "$today"
