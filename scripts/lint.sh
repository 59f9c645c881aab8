#!/usr/bin/env bash
# Runs the linters at their pinned versions.
set -euo pipefail
cd "$(dirname "$0")/.."

tool() {
  echo "lint       $1"
  go tool -modfile="$PWD/scripts/tools/$2" "${@:3}"
}
tool golangci-lint golangci-lint/go.mod golangci-lint run
tool logcheck go.mod logcheck ./...
tool actionlint actionlint/go.mod actionlint

echo "lint       shellcheck"
if command -v shellcheck >/dev/null; then
  find .ci/run harness/images/node/root/usr/local/bin scripts test \( -path '*/bin/*' -o -name '*.sh' -o -name run \) -type f -print0 | xargs -0 shellcheck --shell=bash
else
  echo "skipping the shell scripts, including those in workflows: install shellcheck to check them" >&2
fi
