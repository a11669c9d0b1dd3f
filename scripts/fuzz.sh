#!/usr/bin/env bash
# Runs every fuzz target of the repository for the given time each.
set -euo pipefail
time=${1:-60s}
cd "$(dirname "$0")/.."
grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r pkg; do
  go test -list '^Fuzz' "$pkg" | grep '^Fuzz' | while read -r target; do
    echo "== $pkg $target"
    # Minimising a long input would take longer than the search.
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 20x "$pkg" </dev/null
  done
done
