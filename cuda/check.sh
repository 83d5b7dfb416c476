#!/usr/bin/env bash
# All that is worth doing on a machine with a GPU, in one call of less than eight minutes, as one text:
#
#	make cuda-binaries && cuda/check.sh [SOURCE]
#
# The binaries are made beforehand and need nothing but a driver where they run; SOURCE is a corpus to verify on beside a synthetic one, as -in takes it (default: the
# source files of the commands). What isn't there, such as compute-sanitizer or PyTorch, is said and left out. Exits with 1 where a check fails.
#
# GRAM_CUDA=fake tries the script itself, on the driver of the tests, which it compiles (needs g++), with little work in each part.
set -u
cd "$(dirname "$0")/.."
source=${1:-cmd} # not the whole project: what is built is no text
program=bin/grambench tests=$PWD/bin/cuda.test
export GRAM_CUDA=${GRAM_CUDA:-real}
failed=0

# A section has so many seconds, together less than the whole; what one leaves serves the others no longer than their own.
whole=470
ends=0
section() {
	ends=$((SECONDS + $1))
	((ends <= whole)) || ends=$whole
	shift
	printf '\n== %s\n' "$*"
}
# run COMMAND... runs a command within the section's time and notes when it fails.
run() {
	local left=$((ends - SECONDS))
	if ((left <= 0)); then
		printf 'LEFT OUT, no time: %s\n' "$*"
		failed=1
		return 1
	fi
	timeout -k 5 "$left" "$@" # what waits for a device that hangs heeds no signal but the last
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
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export CUDA_CACHE_PATH=$scratch/compiled # the kernels are compiled once, not for each test
verified=1500 copied='2000 10000 30000' trained=20000 on=cuda
if [[ $GRAM_CUDA == fake ]]; then
	g++ -std=c++20 -O2 -ffp-contract=off -shared -fPIC cuda/internal/fake/driver.cc -o "$scratch/libcuda.so.1" || exit 2
	export LD_LIBRARY_PATH=$scratch
	verified=90 copied='200' trained=300 on=cpu
fi

section 10 "machine, $(date -u +%F)"
cat bin/cuda.commit 2>/dev/null # a machine with a GPU may have the binaries and no git
command -v nvidia-smi >/dev/null && timeout -k 5 9 nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader
run "$program" info

section 60 "tests of the back end on the device"
cd cuda
run "$tests" -test.run '^Test(Rows|RowsShared|LongDocuments|EveryKernel|Keep|Peaks|Board|Solve|ResidentMemory|GreatPowers|Tensor|TensorExact|TensorLongDocuments|TensorEqualValues|TensorPieces|TensorMemory|PeakTensor)$'
cd ..

section 60 "verify against the float64 reference"
run "$program" verify -backend cuda -in "synthetic:docs=$verified,terms=20000"
run "$program" verify -backend cuda -gpu-tensor -in "synthetic:docs=$verified,terms=700,length=900"
run "$program" verify -backend cuda -in "$source" -kernel diffusion -kernel rbf -kernel arccos:n=1,layers=3

section 85 "matrices that stay on the device, beside what it reaches in the same run"
cd cuda
GRAM_CUDA_DOCUMENTS=$scratch/documents run "$tests" -test.run '^$' -test.bench BenchmarkKeep -test.benchtime 5x | tee "$scratch/keep"
[[ ${PIPESTATUS[0]} == 0 ]] || failed=1 # run itself was in another shell
cd ..

section 85 "PyTorch on the same device and the same documents"
rate=$(awk '/^BenchmarkKeep\/docs=[0-9]+\/kernel=diffusion[- \t]/ { for (i = 2; i <= NF; i++) if ($i == "pairs/s") rate = $(i-1) } END { print rate }' "$scratch/keep") # of the last, the largest
if ! timeout -k 5 40 python3 -c "import torch; assert '$on' == 'cpu' or torch.cuda.is_available()" 2>/dev/null; then
	echo "not there"
elif [[ -z $rate || ! -s $scratch/documents ]]; then
	echo "LEFT OUT: nothing was measured to hold it against"
	failed=1
else
	run python3 cuda/torch_compare.py "$scratch/documents" "$rate" "$on"
fi
rm -f "$scratch/documents"

section 40 "the dense end through tensor cores, and without"
cd cuda
run "$tests" -test.run '^$' -test.bench BenchmarkTensor -test.benchtime 5x
cd ..

section 40 "matrices that are copied to the machine"
for docs in $copied; do
	run "$program" bench -backend cuda -in "synthetic:docs=$docs,terms=50000,length=300" -count 3 -workers 0
done

section 45 "training, with the solver's rows on the device and in the machine's memory"
for place in cuda cpu; do
	run "$program" train -backend cuda -solver "$place" -scheme one-vs-rest -in "synthetic:docs=$trained,terms=50000,classes=4" -o "$scratch/model"
done

section 45 "compute-sanitizer"
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [[ -n $sanitizer ]]; then
	for tool in memcheck racecheck; do
		run "$sanitizer" --tool "$tool" --error-exitcode 9 "$program" gram -backend cuda -in synthetic:docs=300,terms=2000 -o "$scratch/check.npy"
		run "$sanitizer" --tool "$tool" --error-exitcode 9 "$program" gram -backend cuda -gpu-tensor -in synthetic:docs=150,terms=200,length=900 -o "$scratch/check.npy"
	done
else
	echo "not there"
fi

section 0 "$([[ $failed == 0 ]] && echo 'all passed' || echo 'SOMETHING FAILED'), $SECONDS s"
exit "$failed"
