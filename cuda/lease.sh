# What check.sh, first.sh, second.sh and third.sh share; cuda/LEASE.md says what their outcomes
# teach. A script sets whole, the seconds that all of it may take, and sources this, which goes to
# the root of the project, and has all that is printed written to $OUT/NAME.txt as well ($OUT: the
# output folder, default build/lease), where a result survives a lost connection.
#
# The binaries of make cuda-binaries need nothing but a driver where they run. GRAM_CUDA=fake tries
# a script itself, on the driver of the tests, which it compiles (needs g++), with little work in
# each part. What isn't there, such as PyTorch, is said and left out. A script exits with 1 where
# something fails.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.."
name=$(basename "$0" .sh) program=$PWD/bin/gram bench=$PWD/bin/grambench tests=$PWD/bin/cuda.test
export GRAM_CUDA=${GRAM_CUDA:-real} OUT=${OUT:-$PWD/build/lease}
for f in "$program" "$bench" "$tests"; do
	[[ -x $f ]] || { echo "cuda/$name.sh: no $f; make cuda-binaries makes it" >&2; exit 2; }
done
scratch=$(mktemp -d) && mkdir -p "$OUT" || exit 2
exec > >(tee "$OUT/$name.txt") 2>&1
log=$! failed=0 ends=0 background=()
finish() {
	((${#background[@]} == 0)) || kill "${background[@]}" 2>/dev/null
	printf '\n== %s, %d s\n' "$([[ $failed == 0 ]] && echo 'all passed' || echo 'SOMETHING FAILED')" "$SECONDS"
	rm -rf "$scratch"
	exec >&- 2>&-
	wait "$log"
	exit "$failed"
}
trap finish EXIT
export CUDA_CACHE_PATH=$scratch/compiled # the driver compiles the kernels once, not for each test
fake=
if [[ $GRAM_CUDA == fake ]]; then
	fake=1
	g++ -std=c++20 -O2 -ffp-contract=off -shared -fPIC \
		cuda/internal/fake/driver.cc -o "$scratch/libcuda.so.1" || { failed=2; exit; }
	export LD_LIBRARY_PATH=$scratch
fi

# section SECONDS NAME: what one leaves serves the others no longer than their own.
section() {
	ends=$((SECONDS + $1))
	((ends <= whole)) || ends=$whole
	shift
	printf '\n== %s\n' "$*"
}
# expect WORDS prints what an H100 took for the next command.
expect() { printf -- '-- an H100: %s\n' "$*"; }
# run COMMAND... runs a command within the section's time, and within $limit seconds where that is
# set, and notes when it fails.
run() {
	local left=$((ends - SECONDS))
	if ((left <= 0)); then
		printf 'LEFT OUT, no time: %s\n' "$*"
		failed=1
		return 1
	fi
	((left <= ${limit:-left})) || left=$limit
	timeout -k 5 "$left" "$@" # what waits for a device that hangs heeds no signal but the last
	local status=$?
	if ((status != 0)); then
		printf 'FAILED (status %d): %s\n' "$status" "$*"
		failed=1
	fi
	return "$status"
}
tool() { command -v "$1" || ls "/usr/local/cuda/bin/$1" 2>/dev/null; }
# each TEST... runs tests in a process each: an error of a device stays with its context, and would
# fail all that comes after. The sanitizer looks at one that fails at once.
each() {
	local t sanitizer
	cd cuda
	for t; do
		printf '%s: ' "$t"
		if ! limit=20 run "$tests" -test.run "^Test$t\$" && sanitizer=$(tool compute-sanitizer); then
			limit=40 run "$sanitizer" --tool memcheck "$tests" -test.run "^Test$t\$" 2>&1 | tail -n 40
		fi
	done
	cd ..
}
# bench PATTERN TIMES runs benchmarks, with the times of kernels.
bench() {
	cd cuda
	GRAM_CUDA_TIMES=1 run "$tests" -test.run '^$' -test.bench "$1" -test.benchtime "$2"
	local status=$?
	cd ..
	return $status
}
device_tests='Rows Lists ModelLayout LongDocuments EveryKernel Reduce Neighbours Products
GreatPowers Tensor TensorExact TensorLongDocuments
TensorEqualValues TensorPieces TensorMemory Closed Times'

# PyTorch takes long to import from a cold disk, so it begins at once, beside the rest.
timeout 120 python3 -c \
	"import torch; assert '$fake' or torch.cuda.is_available(); print('PyTorch', torch.__version__)" >"$scratch/torch" 2>/dev/null &
torch=$!
background+=("$torch")

# contact is the first use of a device, within 60 s, and by a cubin for its architecture where the
# driver doesn't compile the kernels.
contact() {
	section 60 "first contact, $(date -u +'%F %T') UTC"
	cat bin/cuda.commit 2>/dev/null # a machine with a GPU may have the binaries and no git
	command -v nvidia-smi >/dev/null && timeout -k 5 15 nvidia-smi \
		--query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader
	limit=25 run "$bench" info || return
	local small=("$program" matrix -backend cuda -in synthetic:docs=50,terms=100 -o "$scratch/first.npy") capability
	if ! limit=20 run "${small[@]}" && [[ -z ${GRAM_CUDA_MODULE:-} ]]; then
		capability=$("$bench" info | sed -nE 's/.*compute capability ([0-9]+)\.([0-9]+).*/\1\2/p')
		export GRAM_CUDA_MODULE=$PWD/bin/gram.sm_$capability.cubin
		echo "again with $GRAM_CUDA_MODULE"
		limit=10 run "${small[@]}"
	fi
}
# beside_pytorch SIZES TIMES measures digests, and PyTorch's ways to the largest of their matrices.
beside_pytorch() {
	local documents=$scratch/documents rate
	GRAM_CUDA_DOCUMENTS=$documents bench "BenchmarkDigest/$1" "$2" | tee "$scratch/digest"
	[[ ${PIPESTATUS[0]} == 0 ]] || failed=1 # run itself was in another shell
	rate=$(awk '/^BenchmarkDigest\// { for (i = 2; i <= NF; i++) if ($i == "pairs/s") rate = $(i-1) } END { print rate }' \
		"$scratch/digest")
	if ! wait "$torch"; then
		echo "PyTorch: not there"
	elif [[ ! -s $documents || -z $rate ]]; then
		echo "LEFT OUT: nothing was measured to hold PyTorch against"
		failed=1
	else
		cat "$scratch/torch"
		run python3 cuda/torch_compare.py "$documents" "$rate" "$([[ $fake ]] && echo cpu || echo cuda)"
	fi
}
# training SOURCE... trains with rows that the device computes.
training() {
	local source
	for source; do
		GRAM_CUDA_TIMES=1 run "$program" train -backend cuda -scheme one-vs-rest -in "$source" -o "$scratch/model"
	done
}
# sanitized TOOL... runs the sanitizer's tools on a small matrix, and on one with a dense end.
sanitized() {
	local sanitizer check
	sanitizer=$(tool compute-sanitizer) || { echo "not there"; return; }
	for check; do
		limit=28 run "$sanitizer" --tool "$check" --error-exitcode 9 "$program" matrix -backend cuda \
			-in synthetic:docs=300,terms=2000 -o "$scratch/check.npy"
		limit=28 run "$sanitizer" --tool "$check" --error-exitcode 9 "$program" matrix -backend cuda -gpu-tensor \
			-in synthetic:docs=150,terms=200,length=900 -o "$scratch/check.npy"
	done
}
