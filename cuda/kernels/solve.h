// What the solver does with rows that stay on the device: scores, and what a working set is chosen
// from. Each operation is that of the same name in package asm, rounded as it is there, so that
// both give the same bits. Included by gram.cu.
#pragma once

// addRows adds multiples of rows to the scores of all variables, a document a thread, and then sets
// the masks that changed,
//
//	score[t] = fma(by[r], rows[from[r] + column of t's document], score[t])  for r = 0, 1, … in turn
//
// What takes time is reading the rows, 4 bytes for a multiply-add; neighbouring threads read
// neighbouring columns where the problem has them all.
extern "C" __global__ void __launch_bounds__(BOARD_THREADS)
	addRows(const Board *__restrict__ board, const Update *__restrict__ u) {
	if (blockIdx.x == 0)
		for (long long k = threadIdx.x; k < u->changes; k += BOARD_THREADS) board->mask[u->changed[k]] = u->masks[k];
	const long long i = (long long)blockIdx.x * BOARD_THREADS + threadIdx.x;
	if (i >= board->documents) return;
	const float GLOBAL *row = board->rows + board->column[i];
	for (long long t = i; t < board->variables; t += board->documents) {
		double sum = board->score[t];
#pragma unroll 8
		for (long long r = 0; r < u->rows; r++) sum = fma(u->by[r], (double)row[u->from[r]], sum);
		board->score[t] = sum;
	}
}

// higher says whether the first of two scores comes before the second in the search for the
// greatest: the lower place of equal ones. Where nothing was found the place is -1 and the score,
// -INF, below all that are.
DEVICE bool higher(double a, long long at, double b, long long bt) { return a > b || (a == b && at < bt); }

// extremes finds the ends of BOARD_VARIABLES scores a block, in a fixed order, and leaves those of
// all blocks to the host.
extern "C" __global__ void __launch_bounds__(BOARD_THREADS)
	extremes(const Board *__restrict__ board, Ends *__restrict__ ends, int up, int low) {
	__shared__ double most[BOARD_THREADS], least[BOARD_THREADS];
	__shared__ long long mostAt[BOARD_THREADS], leastAt[BOARD_THREADS];
	const unsigned me = threadIdx.x;
	double hi = -INF, lo = INF;
	long long hiAt = -1, loAt = -1;
	for (int k = 0; k < BOARD_VARIABLES / BOARD_THREADS; k++) {
		const long long t = (long long)blockIdx.x * BOARD_VARIABLES + k * BOARD_THREADS + me;
		if (t >= board->variables) break;
		const double v = board->score[t];
		const unsigned m = board->mask[t];
		if ((m & (unsigned)up) && v > hi) hi = v, hiAt = t;
		if ((m & (unsigned)low) && v < lo) lo = v, loAt = t;
	}
	most[me] = hi, mostAt[me] = hiAt, least[me] = lo, leastAt[me] = loAt;
	__syncthreads();
	for (unsigned half = BOARD_THREADS / 2; half > 0; half /= 2) {
		if (me < half) {
			const unsigned o = me + half;
			if (higher(most[o], mostAt[o], most[me], mostAt[me])) most[me] = most[o], mostAt[me] = mostAt[o];
			if (higher(-least[o], leastAt[o], -least[me], leastAt[me])) least[me] = least[o], leastAt[me] = leastAt[o];
		}
		__syncthreads();
	}
	if (me == 0) {
		Ends *e = ends + blockIdx.x;
		e->most = most[0], e->mostAt = mostAt[0], e->least = least[0], e->leastAt = leastAt[0];
	}
}

// isBeyond says whether variable t is beyond the bound.
DEVICE bool isBeyond(const Board *board, const Bound *b, long long t) {
	return t < board->variables && b->way * board->score[t] > b->above && (board->mask[t] & (unsigned)b->bit);
}

// Of BOARD_VARIABLES variables a block each thread of the next two has so many in sequence.
enum { SEQUENCE = BOARD_VARIABLES / BOARD_THREADS };

// beyondCount counts the variables beyond a bound, block by block.
extern "C" __global__ void __launch_bounds__(BOARD_THREADS)
	beyondCount(const Board *__restrict__ board, const Bound *__restrict__ b) {
	__shared__ unsigned counts[BOARD_THREADS];
	const unsigned me = threadIdx.x;
	unsigned n = 0;
	for (int k = 0; k < SEQUENCE; k++)
		n += isBeyond(board, b, (long long)blockIdx.x * BOARD_VARIABLES + me * SEQUENCE + k);
	counts[me] = n;
	__syncthreads();
	for (unsigned half = BOARD_THREADS / 2; half > 0; half /= 2) {
		if (me < half) counts[me] += counts[me + half];
		__syncthreads();
	}
	if (me == 0) b->count[blockIdx.x] = counts[0];
}

// beyondList lists them in order, from found[1] on, and the number of them in found[0].
extern "C" __global__ void __launch_bounds__(BOARD_THREADS)
	beyondList(const Board *__restrict__ board, const Bound *__restrict__ b) {
	__shared__ unsigned counts[BOARD_THREADS], before[BOARD_THREADS];
	const unsigned me = threadIdx.x;
	const long long first = (long long)blockIdx.x * BOARD_VARIABLES + me * SEQUENCE;
	unsigned n = 0, earlier = 0;
	for (int k = 0; k < SEQUENCE; k++) n += isBeyond(board, b, first + k);
	for (unsigned k = me; k < blockIdx.x; k += BOARD_THREADS) earlier += b->count[k];
	counts[me] = n;
	before[me] = earlier;
	__syncthreads();
	for (unsigned half = BOARD_THREADS / 2; half > 0; half /= 2) {
		if (me < half) before[me] += before[me + half];
		__syncthreads();
	}
	for (unsigned step = 1; step < BOARD_THREADS; step *= 2) { // sums up to and with each thread
		const unsigned v = me >= step ? counts[me - step] : 0;
		__syncthreads();
		counts[me] += v;
		__syncthreads();
	}
	long long at = 1 + (long long)before[0] + counts[me] - n;
	for (int k = 0; k < SEQUENCE; k++) {
		const long long t = first + k;
		if (!isBeyond(board, b, t)) continue;
		b->found[at].score = board->score[t];
		b->found[at].at = t;
		at++;
	}
	if (blockIdx.x == b->blocks - 1 && me == BOARD_THREADS - 1) b->found[0].at = at - 1;
}

// pick gathers the part of rows that a working set has in common, value[r][c] = rows[from[r] +
// column[c]], and after the last row the scores of its variables.
extern "C" __global__ void __launch_bounds__(PICK_THREADS)
	pick(const Board *__restrict__ board, const Picked *__restrict__ p) {
	const long long c = (long long)blockIdx.x * PICK_THREADS + threadIdx.x;
	if (c >= p->columns) return;
	if (blockIdx.y == p->rows)
		p->score[c] = board->score[p->variable[c]];
	else
		p->value[blockIdx.y * p->columns + c] = board->rows[p->from[blockIdx.y] + p->column[c]];
}
