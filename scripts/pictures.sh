#!/usr/bin/env bash
# Photographs the report of the naive operator and records `make e2e` for the documents, or checks with --check that the
# photographs are of the report as it is now. A picture is not compared with another: each machine has fonts of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

page=test/harness/report/page
current() {
  find "$page" -type f ! -name '*_test.go' | LC_ALL=C sort | xargs cat | sha256sum | cut -d' ' -f1
}

case "${1:-}" in
--check)
  [ "$(current)" = "$(cat docs/pictures/inputs.sha256)" ] || { echo "docs/pictures show an older report: run \`make pictures\` and commit them" >&2; exit 1; }
  ;;
"")
  PICTURES="$PWD/docs/pictures" go test -count=1 -run '^TestPictures$' "./$page"
  current >docs/pictures/inputs.sha256
  E2E_PROVIDER=kwok go run ./scripts/cast docs/pictures/e2e.svg make e2e
  echo "pictures   docs/pictures"
  ;;
*)
  echo "usage: $0 [--check]" >&2
  exit 2
  ;;
esac
