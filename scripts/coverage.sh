#!/usr/bin/env bash
# Sums up what the integration suite and the e2e suite have covered of the operator, each in its last
# run with COVER=1, into one profile that `go tool cover -html` shows.
set -euo pipefail
cd "$(dirname "$0")/../_artifacts" 2>/dev/null || { echo "nothing has run yet: try make test-integration COVER=1" >&2; exit 1; }

mkdir -p coverage
for counted in e2e-*/coverage; do
  [ -d "$counted" ] || continue
  go tool covdata textfmt -i="$counted" -o="coverage/${counted%/coverage}.txt"
done
[ ! -e integration/coverage.txt ] || cp integration/coverage.txt coverage/integration.txt
rm -f coverage/all.txt
profiles=(coverage/*.txt)
[ -e "${profiles[0]}" ] || { echo "nothing has been counted yet: try make test-integration COVER=1" >&2; exit 1; }

{ echo "mode: atomic"; tail -q -n +2 "${profiles[@]}"; } >all.txt
mv all.txt coverage/all.txt
cd ..
for profile in "${profiles[@]}" coverage/all.txt; do
  printf '%-28s %s\n' "$(basename "$profile" .txt)" "$(go tool cover -func="_artifacts/$profile" | awk 'END { print $NF }')"
done
echo "see it with: go tool cover -html=_artifacts/coverage/all.txt"
