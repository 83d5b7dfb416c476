#!/usr/bin/env bash
# Stands in for OSS-Fuzz's compiler of that name, with PACKAGE TARGET NAME: builds the package's tests, once, with
# libFuzzer's instrumentation. With FIND_ONLY it only looks for the target, since that it compiles go vet shows, too.
set -euo pipefail
grep -qE "^func $2\(" "$(go list -f '{{.Dir}}' "$1")"/*_test.go
if [[ -n ${FIND_ONLY-} ]]; then touch "$OUT/$3"; exit; fi
built=$OUT/.$(tr / _ <<<"$1")
test -e "$built" || go test -vet=off -c -gcflags='github.com/gramengine/gram/...=-d=libfuzzer' -o "$built" "$1"
ln "$built" "$OUT/$3"
