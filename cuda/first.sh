#!/usr/bin/env bash
# The first call on a lent GPU, less than nine minutes: does it work, how fast are the kernels,
# and what bounds them? See lease.sh and LEASE.md.
#
#	make cuda-binaries && cuda/first.sh
whole=520
source "$(dirname "$0")/lease.sh"
sizes='10000 30000 100000'
[[ ! $fake ]] || sizes=300

# The log of the clocks holds the driver, too: without a process that has it, it may be loaded anew
# for each.
if command -v nvidia-smi >/dev/null; then
	timeout $whole nvidia-smi \
		--query-gpu=timestamp,clocks.sm,clocks.mem,power.draw,temperature.gpu,utilization.gpu,clocks_throttle_reasons.active \
		--format=csv,noheader -lms 500 >"$OUT/clocks.csv" 2>&1 &
	background+=($!)
fi

expect "info in 0.4 s; the driver compiles the PTX in 2 s"
contact

section 160 "tests, a process each"
expect "all pass, half a second each, most of it the context"
each $device_tests

section 200 "digests of matrices of the diffusion kernel, 140 terms"
declare -A took=(
	[10000]="1.4 ms: panelDot 0.47, tailAdd 0.47, digest 0.11; 3.6e10 pairs/s"
	[30000]="8.2 ms: panelDot 3.3, tailAdd 3.1, digest 0.8, closePairs 0.2; 5.6e10 pairs/s"
	[100000]="76 ms: panelDot 33, tailAdd 30, digest 7.8, closePairs 1.8; 6.7e10 pairs/s"
	[300]="the fake device's time means nothing"
)
for docs in $sizes; do
	expect "${took[$docs]}"
	bench "BenchmarkDigest/docs=$docs/" 5x
done

section 100 "ncu"
expect "panelDot: the unit for loads 79 % busy; tailAdd: issue slots 62 %, that unit 66 %; digest: memory 76 %"
if ncu=$(tool ncu); then
	cd cuda
	limit=90 run "$ncu" --kernel-name 'regex:^(tailAdd|panelDot|closePairs|digest)$' \
		--launch-skip 60 --launch-count 4 \
		--set basic --section WarpStateStats --section MemoryWorkloadAnalysis \
		"$tests" -test.run '^$' -test.bench BenchmarkDigest/docs=30000/ -test.benchtime 1x
	cd ..
else
	echo "not there"
fi
