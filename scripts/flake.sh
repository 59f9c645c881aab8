#!/usr/bin/env bash
# Runs each make target in SUITES N times and summarizes the results: which tests failed, and in which run. It fails if
# any run failed. The output and the results of each run stay in _artifacts/flake.
set -euo pipefail
times=${N:-10} suites=${SUITES:-test-integration e2e}
[[ $times =~ ^[1-9][0-9]*$ ]] || { echo "N=$times is not a number of runs: set it to 1 or more" >&2; exit 1; }
trap 'exit 130' INT TERM # after the suite has cleaned up

flake=_artifacts/flake
rm -rf "$flake"
flaky=false
for ((run = 1; run <= times; run++)); do
  for suite in $suites; do
    begin=$flake/begin outcome=passed
    mkdir -p "$flake" && touch "$begin"
    make "$suite" >"$flake/$suite-$run.log" 2>&1 || outcome=failed flaky=true
    for file in _artifacts/*/junit.xml; do
      [ "$file" -nt "$begin" ] || continue # from an earlier run
      mkdir -p "$flake/$suite-$run" && cp "$file" "$flake/$suite-$run"
    done
    printf '%-18s %3d of %d   %s\n' "$suite" "$run" "$times" $outcome
  done
done
bin/assay report --markdown "$flake"
! $flaky
