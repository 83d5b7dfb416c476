#!/usr/bin/env bash
# OSS-Fuzz's build of this repository: each native Go fuzz target becomes a program in $OUT, named after its package and
# itself. compile_native_go_fuzzer is of OSS-Fuzz's image base-builder-go; `make campaign` runs this script with a
# stand-in for it.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
for module in . cluster lab; do # lab may have none
	cd "$root/$module"
	{ grep -rlE '^func Fuzz\w+\(\w+ \*testing\.F\)' --include='*_test.go' --exclude-dir=build --exclude-dir=testdata . || true; } | sort | while read -r file; do
		folder=$(dirname "$file")
		if [[ $module == . && $folder =~ ^\./(cluster|lab)(/|$) ]]; then continue; fi
		package=$(go list "$folder")
		sed -nE 's/^func (Fuzz[A-Za-z0-9_]+)\([a-z]+ \*testing\.F\).*/\1/p' "$file" | while read -r target; do
			name=$(tr / _ <<<"${package#github.com/gramengine/gram}")_$target
			compile_native_go_fuzzer "$package" "$target" "${name#_}"
		done
	done
done
