#!/usr/bin/env bash
# Repeats suites, which are targets of make, and reports how often each of their tests has failed, and the suite itself: a test
# that fails once in twenty runs is found by nothing but runs. Fails if any has. What each run printed, and its results, stay in
# _artifacts/flake.
set -euo pipefail
times=${N:-10} suites=${SUITES:-test-integration e2e}
[[ $times =~ ^[1-9][0-9]*$ ]] || { echo "N=$times is no number of runs: set 1 or more" >&2; exit 1; }
trap 'exit 130' INT TERM # after the suite has tidied up

flake=_artifacts/flake
rm -rf "$flake"
flaky=false
for ((run = 1; run <= times; run++)); do
  for suite in $suites; do
    own=$flake/$run/$suite log=$flake/$suite-$run.log
    mkdir -p "$own"
    touch "$own/begin"
    outcome=passed begin=$SECONDS
    make "$suite" >"$log" 2>&1 || outcome=failed flaky=true
    left=0
    for file in _artifacts/*/{suite,results}.json; do
      [ "$file" -nt "$own/begin" ] || continue # of an earlier run
      tier=$flake/$run/$(basename "$(dirname "$file")")
      mkdir -p "$tier" && cp "$file" "$tier"
      left=$((left + 1))
    done
    ((left)) || { echo "run $run of make $suite left no results: see $log" >&2; exit 1; }
    printf '{"format":1,"kind":"suite","name":"make %s","tests":[{"name":"the suite itself","outcome":"%s","seconds":%d}]}\n' \
      "$suite" $outcome $((SECONDS - begin)) >"$own/suite.json"
    printf '%-18s %3d of %d   %s\n' "$suite" "$run" "$times" $outcome
  done
done
bin/assay report --rates "$flake"/*/ | tee "$flake/rates.md"
! $flaky
