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
expect "images: 20 ms with share=0, 14 by the model (-1); texts: 8.3, and the model takes none"
bench BenchmarkTensor 3x

section 60 "racecheck"
expect "no hazard"
sanitized racecheck

section 140 "PyTorch on the same device and the same documents"
expect "its best way, sparse times dense, takes 12 times as long"
beside_pytorch "docs=$docs/" 3x

section 150 "training on rows that the device computes"
expect "the matrix in 0.3 s; the solver as without a device"
training "synthetic:docs=$trained,terms=50000,classes=4" ${1:+"$1"}
