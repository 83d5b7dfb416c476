#!/usr/bin/env bash
# Builds the files of a release in dist, or only the archives of the programs for the named systems, such as linux-amd64.
# The files depend only on the commit and the versions of Go and Zig. Needs zip, and python3 for wheels. WHEEL is the
# folder of the Python environment that builds wheels.
set -euo pipefail
: "${WHEEL:=$PWD/build/wheel}"
cd "$(dirname "$0")/.."
version=$(sed -n 's/^const Version = "\(.*\)"/\1/p' internal/cli/program.go)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C CGO_ENABLED=0
umask 022
rm -rf dist build/licences
mkdir -p dist build

# pack NAME FILES... writes the archive dist/NAME.tar.gz, or .zip for Windows.
pack() {
	local name=$1 folder=build/$1
	rm -rf "$folder"
	mkdir -p "$folder"
	cp -r "${@:2}" "$folder"
	chmod -R u=rwX,go=rX "$folder"
	find "$folder" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
	case $name in
	*windows*) (cd build && find "$name" -type f | sort | zip -q -X -@ "../dist/$name.zip") ;;
	*) tar -C build --sort=name --owner=0 --group=0 --numeric-owner -c "$name" | gzip -n9 >"dist/$name.tar.gz" ;;
	esac
}

# The licences of linked modules require that their texts accompany the programs.
go run github.com/google/go-licenses@v1.6.0 save ./cmd/gram --ignore github.com/gramengine/gram \
	--save_path build/licences 2>build/licences.log || { cat build/licences.log >&2; exit 1; }
cp "$(go env GOROOT)/LICENSE" build/licences/go.txt
common=(LICENSE AUTHORS README.md CHANGELOG.md build/licences build/man build/completion)

mkdir -p build/man build/completion build/host
go build -o build/host/ ./cmd/gram ./cmd/grambench
for program in gram grambench; do
	build/host/$program man >build/man/$program.1
	for shell in bash zsh fish; do build/host/$program completion $shell >build/completion/$program.$shell; done
done

# Maximum sizes in bytes.
check_size() {
	local size
	size=$(stat -c %s "$1")
	echo "$1: $size bytes"
	((size <= $2)) || { echo "$1: more than $2 bytes" >&2; exit 1; }
}

systems=("$@")
(($#)) || systems=({linux,darwin,windows}-{amd64,arm64})
for system in "${systems[@]}"; do
	export GOOS=${system%-*} GOARCH=${system#*-}
	programs=build/programs-$system end=
	if [ "$GOOS" = windows ]; then end=.exe; fi
	go build -buildvcs=auto -trimpath -ldflags '-s -w -buildid=' -o "$programs/" ./cmd/gram ./cmd/grambench
	check_size "$programs/gram$end" 22000000
	check_size "$programs/grambench$end" 15000000
	files=("$programs"/* "${common[@]}")
	if [ "$GOOS" = linux ]; then files+=(release/gram-serve.service release/Containerfile); fi
	pack "gram-$version-$system" "${files[@]}"
done
unset GOOS GOARCH

# cyclonedx-gomod writes the time of the build, which is replaced.
time=$(date -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)
for program in gram grambench; do
	go run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0 bin -json -noserial -version "$version" \
		"build/programs-${systems[0]}/$program" 2>build/sbom.log |
		sed -E "s/(\"timestamp\": )\"[^\"]*\"/\1\"$time\"/" >"dist/$program-$version.cdx.json"
done

if ((!$#)); then
	CGO_ENABLED=1 make -C python wheel-all BUILD="$WHEEL"
	for wheel in dist/*.whl; do
		case $wheel in *x86_64*) system=linux-amd64 ;; *) system=linux-arm64 ;; esac
		unzip -q -o -j "$wheel" gramengine/_lib/libgram.so -d build
		pack "libgram-$version-$system" build/libgram.so cmd/libgram/gram.h LICENSE AUTHORS build/licences
	done
fi
cd dist
sha256sum -- * >../build/SHA256SUMS
mv ../build/SHA256SUMS .
