#!/usr/bin/env bash
# The second call on a lent GPU, less than nine minutes: which tail, which height of tiles, and how
# fast is the bus? See lease.sh and LEASE.md.
#
#	cuda/second.sh [SOURCE]
#
# SOURCE is a corpus beside the synthetic one, as -in takes it: 20 Newsgroups, for which the
# figures stand.
whole=520
source "$(dirname "$0")/lease.sh"

contact

section 200 "tails and heights, 30,000 synthetic documents"
expect "tail=0, the model's: 8.2 ms with 47 head terms; tail=4: 8.3; 8: 8.5; 16: 9.0; 28: 10.8; 64: 14.5 with 3 chunks"
expect "rows=1024: 6 % more than 2048, 512: 20 %, 256: 51 %"
bench BenchmarkSweep 3x

section 200 "the same of ${1:-no other corpus}"
if [[ ${1:-} ]]; then
	expect "20 Newsgroups, tail=0: 3.2 ms with 89 head terms, 2.0e10 pairs/s"
	corpus=$1 # benchmarks run in a folder of their own
	[[ ! -e $1 ]] || corpus=$(realpath "$1")
	GRAM_CUDA_CORPUS=$corpus bench BenchmarkSweep/corpus=named 3x
else
	echo "not given"
fi

section 60 "rows that are copied to the machine"
expect "5.2e10 B/s, the bus, for 18 of 22 ms"
bench BenchmarkRows 5x
