#!/usr/bin/env bash
# Takes the screenshots of the report for the documents. With --check, it checks that the report has not changed since they
# were taken. It does not compare screenshots, because fonts differ between machines. Edit tiers.svg and fault.svg by hand.
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
  echo "pictures   docs/pictures"
  ;;
*)
  echo "usage: $0 [--check]" >&2
  exit 2
  ;;
esac
