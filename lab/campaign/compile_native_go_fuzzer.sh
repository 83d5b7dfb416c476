#!/usr/bin/env bash
# Stands in for OSS-Fuzz's compiler of that name, with PACKAGE TARGET NAME: builds the target with libFuzzer's
# instrumentation. With FIND_ONLY it only looks for it, since that it compiles go vet shows, too.
set -euo pipefail
grep -qE "^func $2\(" "$(go list -f '{{.Dir}}' "$1")"/*_test.go
if [[ -n ${FIND_ONLY-} ]]; then touch "$OUT/$3"; exit; fi
go test -vet=off -c -gcflags=all=-d=libfuzzer -o "$OUT/$3" "$1"
