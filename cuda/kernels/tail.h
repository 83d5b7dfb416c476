// The rare terms, by posting lists. Included by gram.cu.
#pragma once

constexpr unsigned LISTS = 4; // of which a warp loads together
constexpr Entry NOWHERE = ~0ull; // no column of any tile

DEVICE bool isIn(const unsigned *set, unsigned i) { return set[i / 32] >> i % 32 & 1; }

// addMatch adds the product of a row's word and an entry of a list to the sum of its column, where
// that is one of count from the first on; where wide and the column's document is long, in two words.
template <int pairing>
DEVICE void addMatch(int *sum, int *part, bool wide, const unsigned *longs, unsigned a, Entry e, unsigned first,
	unsigned count) {
	const unsigned j = placeOf(e) - first;
	if (j >= count) return;
	const long long units = addUnits<pairing>(0, a, wordOf(e));
	if (wide && isIn(longs, j)) {
		const unsigned low = (unsigned)units, before = (unsigned)atomicAdd(&part[j], (int)low);
		atomicAdd(&sum[j], (int)(units >> 32) + (before + low < low));
	} else {
		atomicAdd(&sum[j], rounded(units));
	}
}

// tailAdd adds up the tail's products of row order[blockIdx.x] with the columns of number blockIdx.y of
// those TAIL_COLUMNS at a time that have a column of the tile, and stores the sums,
//
//	value[r][j] = Σ_t a_t b_t,  t in the tail, in units of 2^-30
//
// and zeros for the bits of close pairs. Each thread finds the list of one of the row's values, and
// where in it these columns begin and end: long lists say so, of short ones all is looked at. Then
// a warp walks one list at a time. The rows are blocks' first number, so that blocks that run
// together read the same lists; those with the most values come first, so that the tile doesn't
// wait for one of them in the end.
//
// A sum is rounded once where it is wide, with two additions for each product, and otherwise product
// by product: then it errs by 2^-31 for each of the matches at most. It is wide where both documents
// have more than NARROW_VALUES values in the tail, so that no sum errs by more than that many. Rows of
// such documents go through their lists twice, for half of the columns each.
template <int pairing>
DEVICE void tailAddOf(const Side *__restrict__ rows, const Side *__restrict__ cols, const Tile *__restrict__ tile) {
	__shared__ uint4 sums[TAIL_COLUMNS / 4]; // whole units; of wide ones half as many, and then what is below them
	__shared__ unsigned longs[TAIL_COLUMNS / 2 / 32];
	__shared__ const Entry GLOBAL *from[TAIL_THREADS];
	__shared__ unsigned length[TAIL_THREADS], word[TAIL_THREADS];
	const unsigned row = tile->order[blockIdx.x], doc = tile->docs[row];
	const bool wide = rows->longs && cols->longs && rows->longs[doc / 32] >> doc % 32 & 1;
	const unsigned width = wide ? TAIL_COLUMNS / 2 : TAIL_COLUMNS;
	uint4 *const below = sums + TAIL_COLUMNS / 8;
	int *const sum = (int *)sums, *const part = (int *)below;
	const unsigned me = threadIdx.x, lane = me % 32, warp = me / 32;
	const long long hi = tile->lo + tile->cols, cut = tile->lo / TAIL_COLUMNS + blockIdx.y;
	for (long long begin = cut * TAIL_COLUMNS; begin < (cut + 1) * TAIL_COLUMNS; begin += width) {
		const long long end = begin + width < hi ? begin + width : hi;
		const long long lo = tile->lo > begin ? tile->lo : begin; // the first document, a multiple of PANEL
		if (lo >= end) continue;
		const unsigned count = (unsigned)(end - lo), first = (unsigned)lo;
		const unsigned padded = (count + PANEL - 1) / PANEL * PANEL; // what panelDot reads and writes beyond the last
		const uint4 zero = {0, 0, 0, 0};
		for (unsigned j = me; j < padded / 4; j += TAIL_THREADS) {
			store4(&sums[j], zero);
			if (wide) store4(&below[j], zero);
		}
		for (unsigned j = me; wide && j < padded / 32; j += TAIL_THREADS) longs[j] = cols->longs[first / 32 + j];

		const long long last = rows->tail[doc + 1];
		for (long long at = rows->tail[doc]; at < last; at += TAIL_THREADS) {
			const unsigned values = last - at < TAIL_THREADS ? (unsigned)(last - at) : TAIL_THREADS;
			if (me < values) {
				const Entry e = rows->tailEntry[at + me];
				const unsigned term = placeOf(e);
				long long p = cols->list[term], q = cols->list[term + 1];
				if (term < cols->cutTerms) {
					const unsigned GLOBAL *cuts = cols->cut + term * cols->cuts + cut;
					q = p + cuts[1];
					p += cuts[0];
				}
				from[me] = cols->posting + p;
				length[me] = (unsigned)(q - p);
				word[me] = wordOf(e);
			}
			__syncthreads();
			// Loads of several lists are under way together, since most lists are short.
			const unsigned warps = TAIL_THREADS / 32;
			for (unsigned i = warp; i < values; i += LISTS * warps) {
				Entry e[LISTS];
#pragma unroll
				for (unsigned q = 0; q < LISTS; q++) {
					const unsigned at = i + q * warps;
					e[q] = at < values && lane < length[at] ? from[at][lane] : NOWHERE;
				}
#pragma unroll
				for (unsigned q = 0; q < LISTS; q++) {
					const unsigned at = i + q * warps;
					if (at < values) addMatch<pairing>(sum, part, wide, longs, word[at], e[q], first, count);
				}
				for (unsigned at = i; at < values && at < i + LISTS * warps; at += warps) {
					const Entry GLOBAL *list = from[at];
					const unsigned n = length[at], a = word[at];
					for (unsigned k = lane + 32; k < n; k += 32 * LISTS) {
#pragma unroll
						for (unsigned q = 0; q < LISTS; q++) e[q] = k + 32 * q < n ? list[k + 32 * q] : NOWHERE;
#pragma unroll
						for (unsigned q = 0; q < LISTS; q++)
							addMatch<pairing>(sum, part, wide, longs, a, e[q], first, count);
					}
				}
			}
			__syncthreads();
		}
		const long long column = lo - tile->lo; // a thread that had no list to wait for has its own zeros here
		uint4 GLOBAL *out = (uint4 GLOBAL *)(tile->value + row * tile->stride + column);
		for (unsigned j = me; j < padded / 4; j += TAIL_THREADS) {
			uint4 s = load4(&sums[j]);
			if (wide) {
				const uint4 p = load4(&below[j]);
				s.x += p.x >> 31, s.y += p.y >> 31, s.z += p.z >> 31, s.w += p.w >> 31;
			}
			store4(out + j, s);
		}
		unsigned GLOBAL *close = tile->close + row * closeWords(tile) + column / 32;
		for (unsigned j = me; j < padded / 32; j += TAIL_THREADS) close[j] = 0;
	}
}

#define TAIL_ADD(name, pairing)                                                                    \
	extern "C" __global__ void __launch_bounds__(TAIL_THREADS, 6)                                   \
		name(const Side *__restrict__ rows, const Side *__restrict__ cols, const Tile *__restrict__ tile) { \
		tailAddOf<pairing>(rows, cols, tile);                                                      \
	}
TAIL_ADD(tailAdd, DOT)
TAIL_ADD(tailAddChiSquare, CHI_SQUARE)
TAIL_ADD(tailAddJensenShannon, JENSEN_SHANNON)
