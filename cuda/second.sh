#!/usr/bin/env bash
# The second call on a lent GPU, less than nine minutes: which tail, which height of tiles, and how
# fast is the bus? See lease.sh and LEASE.md.
#
#	cuda/second.sh [SOURCE]
#
# SOURCE is a corpus beside the synthetic one, as -in takes it: 20 Newsgroups, for which the
# predictions stand.
whole=520
source "$(dirname "$0")/lease.sh"

contact

section 200 "tails and heights, 30,000 synthetic documents"
expect "tail=16: 14 ms; tail=28: 12.5 ms with 1 chunk; tail=48: 15; tail=64: 17; tail=96: 19; tail=128: 21 ms with 6 chunks; rows=1024: 5 % more, 512: 15 %, 256: 40 %"
bench BenchmarkSweep 3x

section 200 "the same of ${1:-no other corpus}"
if [[ ${1:-} ]]; then
	expect "28 segments, so panelDot takes up to twice as long for a value; tail=28 still best"
	GRAM_CUDA_CORPUS=$1 bench BenchmarkSweep/corpus=named 3x
else
	echo "not given"
fi

section 60 "rows that are copied to the machine"
expect "5.2e10 B/s, 1.3e10 values a second: the bus; copy-ms/op close to the whole time"
bench BenchmarkRows 5x
