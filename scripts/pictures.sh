#!/usr/bin/env bash
# Photographs the report of the naive operator for the documents, or checks with --check that this was done since the
# report last changed. A picture is not compared with another: fonts and browsers draw each machine's own.
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
  echo "pictures   docs/pictures"
  ;;
*)
  echo "usage: $0 [--check]" >&2
  exit 2
  ;;
esac
