// Pairs whose c is too small for sums of rounded products. Included by gram.cu.
#pragma once

constexpr int SEARCHES = 4; // that a lane has under way together

// halfOf adds up what the terms of document i add to twice c with document j, in float64, those
// that both have by half; lanes take the terms in turn, and look them up in the other's.
DEVICE double halfOf(const Side *x, unsigned i, const Side *y, unsigned j, int pairing, unsigned lane) {
	const long long first = y->exact[j], end = x->exact[i + 1];
	const long long count = y->exact[j + 1] - first;
	double sum = 0;
	for (long long k = x->exact[i] + lane; k < end; k += 32 * SEARCHES) {
		unsigned term[SEARCHES];
		long long at[SEARCHES]; // the last of the other's terms that isn't above, or the first
#pragma unroll
		for (int s = 0; s < SEARCHES; s++) term[s] = x->exactTerm[k + 32 * s < end ? k + 32 * s : k], at[s] = first;
		for (long long n = count; n > 1; n -= n / 2) {
#pragma unroll
			for (int s = 0; s < SEARCHES; s++)
				if (y->exactTerm[at[s] + n / 2] <= term[s]) at[s] += n / 2;
		}
#pragma unroll
		for (int s = 0; s < SEARCHES; s++) {
			if (k + 32 * s >= end) break;
			const bool both = count > 0 && y->exactTerm[at[s]] == term[s];
			sum += (both ? 0.5 : 1) * shareOf(pairing, x->exactValue[k + 32 * s], both ? y->exactValue[at[s]] : 0);
		}
	}
	return sum;
}

// total is the sum of what the lanes have, in a fixed order, the same for all of them.
DEVICE double total(double v, unsigned lane) {
	for (unsigned step = 16; step > 0; step /= 2) {
		const unsigned long long b = ofDouble(v);
		const unsigned low = shuffle((unsigned)b, lane ^ step), high = shuffle((unsigned)(b >> 32), lane ^ step);
		v += bits((unsigned long long)high << 32 | low);
	}
	return v;
}

// closePairs computes c anew of the pairs that have a bit, by a form without negative terms in
// float64, ½ Σ (a_t - b_t)² for the dot product as engine's does, and the program of it. A warp
// takes 32 words of bits, and all of it a pair at a time; then each lane has a value of the word's.
// The sums over either document's terms are added in the end: so (i, j) has the bits of (j, i).
extern "C" __global__ void __launch_bounds__(CLOSE_THREADS, 2) closePairs(const Side *__restrict__ rows,
	const Side *__restrict__ cols, const Tile *__restrict__ tile, const Program *__restrict__ program, int pairing) {
	const unsigned lane = threadIdx.x % 32;
	const long long perRow = closeWords(tile), words = tile->rows * perRow;
	const long long first = (long long)blockIdx.x * CLOSE_THREADS + threadIdx.x - lane;
	const unsigned mine = first + lane < words ? tile->close[first + lane] : 0;
	for (unsigned some = ballot(mine); some;) { // hardly any
		const unsigned w = highestBit(some), word = shuffle(mine, w);
		some ^= 1u << w;
		const long long row = (first + w) / perRow, column = (first + w) % perRow * 32;
		const unsigned doc = tile->docs[row];
		float c = 0;
		for (unsigned k = 0; k < 32; k++) {
			if (!(word >> k & 1)) continue;
			const unsigned other = (unsigned)(tile->lo + column + k);
			const double a = total(halfOf(rows, doc, cols, other, pairing, lane), lane);
			const double b = total(halfOf(cols, other, rows, doc, pairing, lane), lane);
			if (k == lane) c = (float)((a + b) / 2);
		}
		if (!(word >> lane & 1)) continue;
		tile->value[row * tile->stride + column + lane] =
			program ? (float)run(program, c, tile->first + row, column + lane) : c;
	}
}
