#!/usr/bin/env bash
# The third call on a lent GPU, less than nine minutes: variants, races, PyTorch, and training. See
# lease.sh and LEASE.md.
#
#	cuda/third.sh [SOURCE]
#
# SOURCE is a corpus to train on beside a synthetic one, as -in takes it, such as MNIST in LIBSVM's
# format.
whole=520
source "$(dirname "$0")/lease.sh"
docs=30000 trained=20000
[[ ! $fake ]] || docs=300 trained=300

contact

section 110 "the dense end through tensor cores, and without"
expect "images: share=4 takes half the time of share=0; texts: share=6 5.2 ms for 6.2"
bench BenchmarkTensor 3x

section 60 "racecheck"
expect "no hazard"
sanitized racecheck

section 140 "PyTorch on the same device and the same documents"
expect "its best way, float32 products of blocks of dense rows or sparse times dense, takes 20 to 60 times as long"
beside_pytorch "docs=$docs/" 3x

section 150 "training on rows that the device computes"
expect "the matrix in less than a second; the solver as without a device"
training "synthetic:docs=$trained,terms=50000,classes=4" ${1:+"$1"}
