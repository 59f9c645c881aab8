#!/usr/bin/env bash
# Merges the coverage of the operator from the last runs of the integration and e2e suites with COVER=1.
set -euo pipefail
cd "$(dirname "$0")/../_artifacts" 2>/dev/null || { echo "no coverage found: run \`make test-integration COVER=1\`" >&2; exit 1; }

mkdir -p coverage
for counted in e2e-*/coverage; do
  [ -d "$counted" ] || continue
  go tool covdata textfmt -i="$counted" -o="coverage/${counted%/coverage}.txt"
done
[ ! -e integration/coverage.txt ] || cp integration/coverage.txt coverage/integration.txt
rm -f coverage/all.txt
profiles=(coverage/*.txt)
[ -e "${profiles[0]}" ] || { echo "no coverage found: run \`make test-integration COVER=1\`" >&2; exit 1; }

{ echo "mode: atomic"; tail -q -n +2 "${profiles[@]}"; } >all.txt
mv all.txt coverage/all.txt
cd ..
for profile in "${profiles[@]}" coverage/all.txt; do
  printf '%-28s %s\n' "$(basename "$profile" .txt)" "$(go tool cover -func="_artifacts/$profile" | awk 'END { print $NF }')"
done
echo "details    go tool cover -html=_artifacts/coverage/all.txt"
