// What becomes of a tile whose values stay on the device, a block a row. Included by gram.cu.
// Results are those of all rows of a request; a tile's begin with number Tile::first.
#pragma once

// mix is package device's Mix.
DEVICE unsigned long long mix(unsigned row, unsigned column, float value) {
	const unsigned long long odd = 0x9e3779b97f4a7c15ull;
	unsigned long long h = ((unsigned long long)row << 32 | column) * odd;
	h = (h ^ h >> 32 ^ __builtin_bit_cast(unsigned, value)) * odd;
	return h ^ h >> 32;
}

// addUp adds up what the threads of a block have, in a fixed order; the sum is thread 0's.
template <typename T> DEVICE T addUp(T *all, T mine) {
	const unsigned me = threadIdx.x;
	all[me] = mine;
	__syncthreads();
	for (unsigned half = REDUCE_THREADS / 2; half > 0; half /= 2) {
		if (me < half) all[me] += all[me + half];
		__syncthreads();
	}
	return all[0];
}

// digest adds up a row's values as mix has them, half those from its own column on.
extern "C" __global__ void __launch_bounds__(REDUCE_THREADS)
	digest(const Tile *__restrict__ tile, unsigned long long *__restrict__ out, int half) {
	__shared__ unsigned long long sums[REDUCE_THREADS];
	const unsigned row = blockIdx.x, doc = tile->docs[row];
	const float GLOBAL *value = tile->value + row * tile->stride;
	const long long from = half && doc > tile->lo ? doc - tile->lo : 0;
	unsigned long long sum = 0;
	for (long long j = from + threadIdx.x; j < tile->cols; j += REDUCE_THREADS)
		sum += mix(doc, (unsigned)(tile->lo + j), value[j]);
	sum = addUp(sums, sum);
	if (threadIdx.x == 0) out[tile->first + row] = sum;
}

// multiplyRows multiplies a row with vector blockIdx.y, of [vectors][columns], a thread every so
// many columns in turn.
extern "C" __global__ void __launch_bounds__(REDUCE_THREADS) multiplyRows(const Tile *__restrict__ tile,
	const double *__restrict__ by, double *__restrict__ out, int vectors) {
	__shared__ double sums[REDUCE_THREADS];
	const float GLOBAL *value = tile->value + blockIdx.x * tile->stride;
	const double *vector = by + blockIdx.y * tile->cols;
	double sum = 0;
	for (long long j = threadIdx.x; j < tile->cols; j += REDUCE_THREADS) sum = fma((double)value[j], vector[j], sum);
	sum = addUp(sums, sum);
	if (threadIdx.x == 0) out[(tile->first + blockIdx.x) * vectors + blockIdx.y] = sum;
}

// Found is a value of a row, the bits of its order above its column, so that one comparison has
// both; NOTHING comes after all of them.
typedef unsigned long long Found;
constexpr Found NOTHING = ~0ull;
DEVICE Found foundOf(float value, unsigned column) {
	const unsigned b = __builtin_bit_cast(unsigned, value == 0 ? 0.0f : value);
	if (b << 1 > 0xff000000u) return NOTHING; // not a number
	return (Found)(b >> 31 ? ~b : b | 1u << 31) << 32 | column;
}

// least lists the k least values of a row, rising, of equal ones the lower column first, and column
// -1 where there are no more. Each warp has a part of the columns and knows the least of those that
// are not listed; when it is, the warp goes through its part again for the next.
extern "C" __global__ void __launch_bounds__(REDUCE_THREADS)
	least(const Tile *__restrict__ tile, int *__restrict__ column, float *__restrict__ out, int k) {
	const unsigned warps = REDUCE_THREADS / 32, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	__shared__ Found best[REDUCE_THREADS / 32];
	const float GLOBAL *value = tile->value + blockIdx.x * tile->stride;
	const long long at = (tile->first + blockIdx.x) * k;
	Found last = 0; // listed last, or below all: no number has the bits 0
	unsigned turn = warps; // whose part is to be gone through, warps for all
	for (int n = 0; n < k; n++) {
		if (turn == warps || turn == warp) {
			Found mine = NOTHING;
			for (long long j = threadIdx.x; j < tile->cols; j += REDUCE_THREADS) {
				const Found f = foundOf(value[j], (unsigned)j);
				if (f > last && f < mine) mine = f;
			}
			for (unsigned step = 16; step > 0; step /= 2) {
				const unsigned low = shuffle((unsigned)mine, lane ^ step);
				const Found other = (Found)shuffle((unsigned)(mine >> 32), lane ^ step) << 32 | low;
				mine = other < mine ? other : mine;
			}
			if (lane == 0) best[warp] = mine;
		}
		__syncthreads();
		Found first = NOTHING;
		for (unsigned w = 0; w < warps; w++)
			if (best[w] < first) first = best[w], turn = w;
		last = first == NOTHING ? last : first;
		if (first == NOTHING) turn = warps + 1; // nobody's
		if (threadIdx.x == 0) {
			column[at + n] = first == NOTHING ? -1 : (int)(tile->lo + (unsigned)first);
			out[at + n] = first == NOTHING ? 0 : value[(unsigned)first];
		}
		__syncthreads();
	}
}
