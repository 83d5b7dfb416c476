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
expect "tail=0, the model's: 6.2 ms with 108 head terms; tail=4: 6.6; 8: 6.2; 16: 6.3; 28: 6.7; 64: 8.4 with 3 chunks"
expect "rows=1024: 2 % more than 2048, 512: 7 %, 256: 16 %"
bench BenchmarkSweep 3x

section 200 "the same of ${1:-no other corpus}"
if [[ ${1:-} ]]; then
	expect "20 Newsgroups, tail=0: 1.2 ms with 190 head terms, 5.4e10 pairs/s; a value takes no longer than in synthetic text"
	corpus=$1 # benchmarks run in a folder of their own
	[[ ! -e $1 ]] || corpus=$(realpath "$1")
	GRAM_CUDA_CORPUS=$corpus bench BenchmarkSweep/corpus=named 3x
else
	echo "not given"
fi

section 60 "rows that are copied to the machine"
expect "5.2e10 B/s, 1.3e10 values a second: the bus; copy-ms/op close to the whole time"
bench BenchmarkRows 5x
