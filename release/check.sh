#!/usr/bin/env bash
# Uses the files of dist as a user does: programs in an empty root, go install from a module proxy, wheels in clean
# environments, a container, and a unit of systemd. Needs root, buildah, curl, qemu-aarch64-static, pyenv and systemd-analyze.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^const Version = "\(.*\)"/\1/p' internal/cli/program.go)
module=github.com/gramengine/gram
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd dist && sha256sum --quiet -c SHA256SUMS)

echo "programs in an empty root"
for system in linux-amd64 linux-arm64; do
	root=$work/$system
	mkdir -p "$root/data"
	tar -xzf "dist/gram-$version-$system.tar.gz" -C "$work"
	cp "$work/gram-$version-$system"/gram{,bench} "$root/"
	for package in bytes sort text; do cp -r "$(go env GOROOT)/src/$package" "$root/data/"; done
	emulator=()
	if [ "${system#linux-}" != "$(go env GOHOSTARCH)" ]; then
		emulator=(/qemu-aarch64-static)
		cp "$(command -v qemu-aarch64-static)" "$root/"
	fi
	run() { env -i "$(command -v chroot)" "$root" "${emulator[@]}" "$@"; }
	run /gram version
	run /gram train -q -kernel linear -in /data -o /model
	run /gram predict -q -in /data -model /model -o /predicted
	run /grambench verify -in /data -kernel diffusion:t=2
done

echo "go install"
proxy=$work/proxy/$module/@v
mkdir -p "$proxy"
# A module's archive has no files of other modules and no symbolic links.
git ls-files '*/go.mod' | sed 's|/go.mod$||; s|^|:(exclude)|' >"$work/exclude"
git ls-files -s | sed -n 's/^120000.*\t/:(exclude)/p' >>"$work/exclude"
xargs -d '\n' git archive --format=zip --prefix="$module@v$version/" -o "$proxy/v$version.zip" HEAD -- . <"$work/exclude"
git show HEAD:go.mod >"$proxy/v$version.mod"
echo "v$version" >"$proxy/list"
echo "{\"Version\": \"v$version\", \"Time\": \"$(git log -1 --format=%cI)\"}" >"$proxy/v$version.info"
(cd "$work" && GOPROXY="file://$work/proxy,$(go env GOPROXY)" GONOSUMDB=$module GOMODCACHE=$work/modules GOFLAGS="-modcacherw -trimpath" \
	GOBIN=$work/bin CGO_ENABLED=0 go install "$module/cmd/gram@latest" "$module/cmd/grambench@latest")
"$work/bin/gram" version | grep -x "gram $version"

echo "wheels"
for python in $(pyenv versions --bare | grep -E '^3\.[1-9][0-9]' | sort -V | sed -n '1p;$p'); do
	"$(pyenv prefix "$python")/bin/python" -m venv "$work/$python"
	"$work/$python/bin/pip" install -q dist/gramengine-"$version"-*_"$(uname -m)".whl
	(cd "$work" && "$work/$python/bin/python" -c '
import sys
from gramengine import TextClassifier
texts = ["my password", "reset password", "pay an invoice", "the invoice"]
model = TextClassifier().fit(texts, ["login", "login", "billing", "billing"])
assert list(model.predict(["where is my invoice"])) == ["billing"]
print(sys.version)')
done

echo "container"
store() { buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" "$@"; }
store build -q -t gram "$work/gram-$version-linux-amd64" >"$work/image"
container=$(store from gram)
store copy -q "$container" "$work/linux-amd64/model" /model >"$work/copied"
test "$(store inspect --format '{{.OCIv1.Config.User}} {{index .OCIv1.Config.Cmd 0}}' "$container")" = "65534:65534 serve"
store run --isolation chroot "$container" -- /gram version
timeout 20 buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" run --isolation chroot "$container" \
	-- /gram serve -q -addr 127.0.0.1:18080 /model 2>/dev/null &
curl -sf --retry 15 --retry-connrefused --retry-delay 1 127.0.0.1:18080/healthz
wait $! || true # ended by timeout

echo "unit"
unit=$work/gram-serve.service
sed 's|/usr/local/bin/gram|/bin/true|' release/gram-serve.service >"$unit" # verify wants an existing program
systemd-analyze verify "$unit"
systemd-analyze security --offline=true --threshold=20 "$unit" | tail -1
