#!/usr/bin/env bash
# Runs every fuzz target for the given time (default 20s), one after the other.
set -euo pipefail
time=${1:-20s}
grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' . | sort | while read -r file; do
  dir=$(dirname "$file")
  grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | cut -d' ' -f2 | while read -r target; do
    echo "fuzz $dir $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$dir" | tail -n 2
  done
done
