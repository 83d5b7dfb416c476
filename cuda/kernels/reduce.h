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

DEVICE Found shuffleFound(Found f, unsigned lane) {
	const unsigned low = shuffle((unsigned)f, lane);
	return (Found)shuffle((unsigned)(f >> 32), lane) << 32 | low;
}

// least lists the k least values of a row, rising, of equal ones the lower column first, and column
// -1 where there are no more. It finds 32 at a time: each warp goes through a part of the columns and
// keeps the least that it has met, rising from lane to lane; then the first warp merges the lists.
extern "C" __global__ void __launch_bounds__(REDUCE_THREADS)
	least(const Tile *__restrict__ tile, int *__restrict__ column, float *__restrict__ out, int k) {
	enum { WARPS = REDUCE_THREADS / 32, LOADS = 4 };
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	__shared__ Found lists[REDUCE_THREADS + 1]; // and behind them what is listed last
	const float GLOBAL *value = tile->value + blockIdx.x * tile->stride;
	const long long at = (tile->first + blockIdx.x) * k;
	Found last = 0; // listed last, or below all: no number has the bits 0
	for (int done = 0; done < k; done += 32) {
		const int count = k - done < 32 ? k - done : 32;
		Found mine = NOTHING, most = NOTHING; // the warp's greatest of count
		for (long long first = warp * 32 * LOADS; first < tile->cols; first += REDUCE_THREADS * LOADS) {
			Found f[LOADS];
			bool any = false;
#pragma unroll
			for (int q = 0; q < LOADS; q++) {
				const long long j = first + 32 * q + lane;
				f[q] = j < tile->cols ? foundOf(value[j], (unsigned)j) : NOTHING;
				any |= f[q] > last && f[q] < most;
			}
			if (!ballot(any)) continue;
#pragma unroll
			for (int q = 0; q < LOADS; q++) {
				for (unsigned better = ballot(f[q] > last && f[q] < most); better;) {
					const unsigned from = highestBit(better);
					better ^= 1u << from;
					const Found next = shuffleFound(f[q], from), before = shuffleFound(mine, lane ? lane - 1 : 0);
					if (mine > next) mine = lane && before > next ? before : next;
					most = shuffleFound(mine, count - 1);
				}
			}
		}
		lists[threadIdx.x] = mine;
		__syncthreads();
		if (warp == 0) {
			unsigned next = 0; // of the list of the lane's warp
			for (int n = 0; n < count; n++) {
				const Found first = lane < WARPS && next < 32 ? lists[32 * lane + next] : NOTHING;
				Found best = first;
				for (unsigned step = 16; step > 0; step /= 2) {
					const Found other = shuffleFound(best, lane ^ step);
					best = other < best ? other : best;
				}
				const bool found = best != NOTHING;
				if (found) last = best, next += first == best;
				if (lane == 0) {
					column[at + done + n] = found ? (int)(tile->lo + (unsigned)best) : -1;
					out[at + done + n] = found ? value[(unsigned)best] : 0;
				}
			}
			if (lane == 0) lists[REDUCE_THREADS] = last;
		}
		__syncthreads();
		last = lists[REDUCE_THREADS];
	}
}
