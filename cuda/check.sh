#!/usr/bin/env bash
# All checks on a machine with a GPU, in one call of less than eight minutes:
#
#	make cuda-binaries && cuda/check.sh [SOURCE]
#
# SOURCE is a corpus to verify on beside a synthetic one, as -in takes it (default: the source files
# of the commands). first.sh, second.sh and third.sh measure; cuda/LEASE.md says what to run when.
# See lease.sh for the rest.
whole=470
source "$(dirname "$0")/lease.sh"
source=${1:-cmd} # not the whole project: what is built is no text
verified=1500 copied='2000 10000 30000' trained=20000
[[ ! $fake ]] || verified=90 copied=200 trained=300

contact

section 60 "tests of the back end on the device"
each $device_tests

section 60 "verify against the float64 reference"
run "$program" verify -backend cuda -in "synthetic:docs=$verified,terms=20000"
run "$program" verify -backend cuda -gpu-tensor -in "synthetic:docs=$verified,terms=700,length=900"
run "$program" verify -backend cuda -in "$source" -kernel diffusion -kernel rbf -kernel arccos:n=1,layers=3

section 75 "matrices that stay on the device, beside what it reaches in the same run"
export GRAM_CUDA_DOCUMENTS=$scratch/documents
bench BenchmarkDigest 5x | tee "$scratch/digest"
[[ ${PIPESTATUS[0]} == 0 ]] || failed=1 # run itself was in another shell
unset GRAM_CUDA_DOCUMENTS

section 65 "PyTorch on the same device and the same documents"
compare "$scratch/documents" "$(awk '/^BenchmarkDigest\// { for (i = 2; i <= NF; i++) if ($i == "pairs/s") rate = $(i-1) }
	END { print rate }' "$scratch/digest")" # of the largest

section 35 "the dense end through tensor cores, and without"
bench BenchmarkTensor 3x

section 35 "matrices that are copied to the machine"
for docs in $copied; do
	run "$program" bench -backend cuda -in "synthetic:docs=$docs,terms=50000,length=300" -count 3 -workers 0
done

section 40 "training, with the solver's rows on the device and in the machine's memory"
for place in cuda cpu; do
	run "$program" train -backend cuda -solver "$place" -scheme one-vs-rest \
		-in "synthetic:docs=$trained,terms=50000,classes=4" -o "$scratch/model"
done

section 40 "compute-sanitizer"
if sanitizer=$(tool compute-sanitizer); then
	for check in memcheck racecheck; do
		run "$sanitizer" --tool "$check" --error-exitcode 9 "$program" gram -backend cuda \
			-in synthetic:docs=300,terms=2000 -o "$scratch/check.npy"
		run "$sanitizer" --tool "$check" --error-exitcode 9 "$program" gram -backend cuda -gpu-tensor \
			-in synthetic:docs=150,terms=200,length=900 -o "$scratch/check.npy"
	done
else
	echo "not there"
fi
