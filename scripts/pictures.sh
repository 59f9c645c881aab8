#!/usr/bin/env bash
# Makes the pictures of the documents that show what the project prints: takes screenshots of the report of the naive operator, and
# records `make e2e`. With --check it checks that the screenshots are of the report as it is now. A screenshot is not compared
# with another: each machine has fonts of its own. The drawings, tiers.svg and fault.svg, are edited by hand.
set -euo pipefail
cd "$(dirname "$0")/.."

page=harness/report/page
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
