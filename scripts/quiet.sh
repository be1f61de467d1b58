#!/usr/bin/env bash
# Keeps of `go test -v` what a reader wants: results, failures, logged lines.
set -euo pipefail
grep --line-buffered -vE '^=== (RUN|PAUSE|CONT|NAME)' || true
