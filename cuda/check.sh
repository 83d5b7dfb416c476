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
run "$bench" verify -backend cuda -in "synthetic:docs=$verified,terms=20000"
run "$bench" verify -backend cuda -gpu-tensor -in "synthetic:docs=$verified,terms=700,length=900"
run "$bench" verify -backend cuda -in "$source" -kernel diffusion -kernel rbf -kernel arccos:n=1,layers=3

section 140 "matrices that stay on the device, and PyTorch on the same documents"
beside_pytorch '' 5x

section 35 "the dense end through tensor cores, and without"
bench BenchmarkTensor 3x

section 35 "matrices that are copied to the machine"
for docs in $copied; do
	run "$bench" bench -backend cuda -in "synthetic:docs=$docs,terms=50000,length=300" -count 3 -workers 0
done

section 40 "training"
training "synthetic:docs=$trained,terms=50000,classes=4"

section 40 "compute-sanitizer"
sanitized memcheck racecheck
