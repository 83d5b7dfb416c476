#!/usr/bin/env bash
# All that is worth doing on a machine with a GPU, in one call of less than eight minutes, as one text:
#
#	make cuda-binaries && cuda/check.sh [SOURCE]
#
# The binaries are made beforehand and need nothing but a driver where they run; SOURCE is a corpus to verify on beside a synthetic one, as -in takes it (default: the
# source files of the commands). What isn't there, such as compute-sanitizer or PyTorch, is said and left out. Exits with 1 where a check fails.
set -u
cd "$(dirname "$0")/.."
source=${1:-cmd} # not the whole project: what is built is no text
program=bin/grambench tests=$PWD/bin/cuda.test
failed=0

section() { printf '\n== %s\n' "$*"; }
# run SECONDS COMMAND... runs a command within a time, and that of the whole, and notes when it fails.
whole=470
run() {
	local limit=$1 left=$((whole - SECONDS))
	shift
	if ((left <= 0)); then
		printf 'LEFT OUT, no time: %s\n' "$*"
		failed=1
		return 1
	fi
	((limit < left)) || limit=$left
	timeout "$limit" "$@"
	local status=$?
	if ((status != 0)); then
		printf 'FAILED (status %d): %s\n' "$status" "$*"
		failed=1
	fi
	return "$status"
}

for f in "$program" "$tests"; do
	[[ -x $f ]] || { echo "cuda/check.sh: no $f; make cuda-binaries makes it" >&2; exit 2; }
done

section "machine, $(date -u +%F)"
cat bin/cuda.commit 2>/dev/null # a machine with a GPU may have the binaries and no git
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader
run 30 "$program" info

section "tests of the back end on the device"
(cd cuda && GRAM_CUDA=real run 60 "$tests" -test.run '^Test(Rows|LongDocuments|EveryKernel|Keep|Peaks|Board|Solve|ResidentMemory)$') || failed=1

section "verify against the float64 reference"
run 40 "$program" verify -backend cuda -in synthetic:docs=1500,terms=20000
run 40 "$program" verify -backend cuda -in "$source" -kernel diffusion -kernel rbf -kernel arccos:n=1,layers=3

section "compute-sanitizer"
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [[ -n $sanitizer ]]; then
	for tool in memcheck racecheck; do
		run 40 "$sanitizer" --tool "$tool" --error-exitcode 9 "$program" gram -backend cuda -in synthetic:docs=300,terms=2000 -o "${TMPDIR:-/tmp}/check.npy"
	done
	rm -f "${TMPDIR:-/tmp}/check.npy"
else
	echo "not there"
fi

section "matrices that stay on the device, beside what it reaches in the same run"
(cd cuda && GRAM_CUDA=real run 90 "$tests" -test.run '^$' -test.bench BenchmarkKeep -test.benchtime 5x) || failed=1

section "matrices that are copied to the machine"
for docs in 2000 10000 30000; do
	run 30 "$program" bench -backend cuda -in "synthetic:docs=$docs,terms=50000,length=300" -count 3 -workers 0
done

section "training, with the solver's rows on the device and in the machine's memory"
model=${TMPDIR:-/tmp}/check.model
for place in cuda cpu; do
	run 60 "$program" train -backend cuda -solver "$place" -scheme one-vs-rest -in synthetic:docs=20000,terms=50000,classes=4 -o "$model"
done
rm -f "$model"

section "PyTorch on the same device"
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
	run 50 python3 cuda/torch_compare.py 30000 50000 300
else
	echo "not there"
fi

section "$([[ $failed == 0 ]] && echo 'all passed' || echo 'SOMETHING FAILED')"
exit "$failed"
