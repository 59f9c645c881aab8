#!/usr/bin/env bash
# Repeats suites, which are targets of make, and reports how often each of their tests has failed: a test that fails
# once in twenty runs is found by nothing but runs. Fails if any has. What each run printed, and its results, stay in
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
    rm -f _artifacts/*/junit.xml
    verdict=passed
    make "$suite" >"$log" 2>&1 || verdict=FAILED
    results=(_artifacts/*/junit.xml)
    [ -e "${results[0]}" ] || { echo "run $run of make $suite left no results: see $log" >&2; exit 1; }
    for file in "${results[@]}"; do
      tier=$flake/$run/$(basename "$(dirname "$file")")
      mkdir -p "$tier" && cp "$file" "$tier"
    done
    if [ $verdict = FAILED ]; then
      flaky=true
      grep -qE '<(failure|error)' "${results[@]}" || # then none of its tests has failed
        echo '<testsuites><testsuite><testcase name="the suite itself"><failure/></testcase></testsuite></testsuites>' >"$own/junit.xml"
    fi
    printf '%-18s %3d of %d   %s\n' "$suite" "$run" "$times" "$verdict"
  done
done
bin/assay report --rates "$flake"/*/ | tee "$flake/rates.md"
! $flaky
