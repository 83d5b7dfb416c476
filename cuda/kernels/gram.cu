// Rows of c = 1 - cosine and of kernels of it. Compiled to PTX by clang (make ptx) and, for tests, for the CPU.
#ifndef GRAM_ON_CPU
#include "cuda_min.h"
#endif
#include "shape.h"
#include "functions.h"
#include "pairing.h"

// tailAdd adds up the tail's products of one row, blockIdx.y, with TAIL_COLUMNS columns, and stores the sums,
//
//	value[r][j] = Σ_t a_t b_t,  t in the tail
//
// One warp walks one posting list at a time. Sums are integers, units of 2^-60: their order doesn't matter to the bit, so any warp may add at any time, and a
// row has the same sums as a column. Products are exact in float64; |Σ| <= 1 for unit vectors.
// The sum of a pairing takes its terms for the products.
template <int pairing> DEVICE void tailAddOf(const Side *__restrict__ rows, const Side *__restrict__ cols, const Tile *__restrict__ tile) {
	__shared__ unsigned long long sums[TAIL_COLUMNS];
	const unsigned warps = TAIL_THREADS / 32, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const long long from = (long long)blockIdx.x * TAIL_COLUMNS; // in the tile
	const long long left = tile->cols - from;
	const unsigned count = left < TAIL_COLUMNS ? (unsigned)left : TAIL_COLUMNS;
	const unsigned padded = (count + PANEL - 1) / PANEL * PANEL; // what panelDot reads and writes beyond the last column
	const unsigned first = (unsigned)(tile->lo + from); // document
	for (unsigned j = threadIdx.x; j < padded; j += TAIL_THREADS) sums[j] = 0;
	__syncthreads();

	const unsigned doc = tile->docs[blockIdx.y];
	const long long end = rows->tail[doc + 1];
	for (long long k = rows->tail[doc] + warp; k < end; k += warps) {
		const unsigned term = rows->tailTerm[k];
		const float value = rows->tailValue[k];
		const long long last = cols->list[term + 1];
		long long lo = cols->list[term], hi = last; // the first posting not below first
		while (lo < hi) {
			const long long mid = (lo + hi) >> 1;
			if (cols->listDoc[mid] < first)
				lo = mid + 1;
			else
				hi = mid;
		}
		for (long long p = lo + lane; p < last; p += 32) {
			const unsigned j = cols->listDoc[p] - first;
			if (j >= count) break;
			atomicAdd(&sums[j], (unsigned long long)(long long)rint(tailTermOf<pairing>(value, cols->listValue[p]) * 0x1p60));
		}
	}
	__syncthreads();
	float GLOBAL *out = tile->value + blockIdx.y * tile->stride + from;
	for (unsigned j = threadIdx.x; j < padded; j += TAIL_THREADS) out[j] = (float)((double)(long long)sums[j] * 0x1p-60);
}

#define TAIL_ADD(name, pairing) \
	extern "C" __global__ void __launch_bounds__(TAIL_THREADS) name(const Side *__restrict__ rows, const Side *__restrict__ cols, const Tile *__restrict__ tile) { \
		tailAddOf<pairing>(rows, cols, tile); \
	}
TAIL_ADD(tailAdd, DOT)
TAIL_ADD(tailAddChiSquare, CHI_SQUARE)
TAIL_ADD(tailAddJensenShannon, JENSEN_SHANNON)

DEVICE unsigned placeOf(Entry e) { return (unsigned)e; }
DEVICE float valueOf(Entry e) { return __builtin_bit_cast(float, (unsigned)(e >> 32)); }

// panelDot adds the head's products of some rows with a panel, PANEL columns, to what is there,
//
//	value[r][j] += Σ_t a_t b_t,  t in the head
//
// The panel's values of a chunk of terms stand in shared memory, [terms][PANEL]; each warp streams other documents past it, a value at a time: every lane multiplies it
// with four columns. Sums are taken segment by segment and chunk by chunk, the rarest term first, so that a pair's sum has the same bits whichever of the two is in
// the panel: terms that only one of them has add nothing, to the bit.
//
// The sum of a pairing takes its terms for the products.
template <int pairing> DEVICE void panelOf(const Side *__restrict__ rows, const Side *__restrict__ cols, const Head *__restrict__ head, const Tile *__restrict__ tile, int rowsPerBlock) {
	DYNAMIC_SHARED(float4, panel);
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = PANEL_THREADS / 32;
	const unsigned column = blockIdx.x * PANEL; // in the tile
	const long long segments = head->segments;
	const long long r0 = (long long)blockIdx.y * rowsPerBlock;
	const long long r1 = r0 + rowsPerBlock < tile->rows ? r0 + rowsPerBlock : tile->rows;
	for (int chunk = 0; chunk < head->chunks; chunk++) {
		const int s0 = head->chunk[chunk], s1 = head->chunk[chunk + 1];
		const float4 zero = {0, 0, 0, 0};
		for (int i = threadIdx.x; i < head->terms[chunk] * (PANEL / 4); i += PANEL_THREADS) store4(&panel[i], zero);
		__syncthreads();
		// Neighbouring threads scatter neighbouring documents, into banks of their own.
		const unsigned own = threadIdx.x % PANEL;
		if (column + own < tile->cols) {
			const unsigned doc = (unsigned)(tile->lo + column + own);
			const unsigned GLOBAL *segment = cols->segment + doc * (segments + 1);
			const Entry GLOBAL *entry = cols->entry + cols->head[doc];
			for (unsigned k = segment[s0] + threadIdx.x / PANEL; k < segment[s1]; k += PANEL_THREADS / PANEL)
				*(float *)((char *)panel + placeOf(entry[k]) + 4 * own) = valueOf(entry[k]);
		}
		__syncthreads();
		for (long long r = r0 + warp; r < r1; r += warps) {
			const unsigned doc = tile->docs[r];
			const unsigned GLOBAL *segment = rows->segment + doc * (segments + 1);
			const Entry GLOBAL *entry = rows->entry + rows->head[doc];
			float4 sum = zero;
			unsigned k = segment[s0];
			for (int s = s0; s < s1; s++) {
				float4 part = zero;
				const unsigned end = segment[s + 1];
#pragma unroll 4
				for (; k < end; k++) {
					const Entry e = entry[k];
					const float value = valueOf(e);
					const float4 p = load4((const float4 *)((const char *)(panel + lane) + placeOf(e)));
					part.x = addTerm<pairing>(part.x, value, p.x);
					part.y = addTerm<pairing>(part.y, value, p.y);
					part.z = addTerm<pairing>(part.z, value, p.z);
					part.w = addTerm<pairing>(part.w, value, p.w);
				}
				sum.x += part.x;
				sum.y += part.y;
				sum.z += part.z;
				sum.w += part.w;
			}
			float4 GLOBAL *out = (float4 GLOBAL *)(tile->value + r * tile->stride + column) + lane;
			float4 v = load4(out);
			v.x += sum.x;
			v.y += sum.y;
			v.z += sum.z;
			v.w += sum.w;
			store4(out, v);
		}
		__syncthreads();
	}
}

#define PANEL_KERNEL(name, pairing) \
	extern "C" __global__ void __launch_bounds__(PANEL_THREADS, 1) name(const Side *__restrict__ rows, const Side *__restrict__ cols, const Head *__restrict__ head, \
		const Tile *__restrict__ tile, int rowsPerBlock) { \
		panelOf<pairing>(rows, cols, head, tile, rowsPerBlock); \
	}
PANEL_KERNEL(panelDot, DOT)
PANEL_KERNEL(panelChiSquare, CHI_SQUARE)
PANEL_KERNEL(panelJensenShannon, JENSEN_SHANNON)

// exactC returns c of two documents by a form without negative terms in float64, ½ Σ (a_t - b_t)² for the dot product, as engine's does.
DEVICE double exactC(const Side *a, unsigned i, const Side *b, unsigned j, int pairing) {
	double sum = 0;
	long long p = a->exact[i], q = b->exact[j];
	const long long pEnd = a->exact[i + 1], qEnd = b->exact[j + 1];
	while (p < pEnd || q < qEnd) {
		const unsigned s = p < pEnd ? a->exactTerm[p] : 0xffffffffu, t = q < qEnd ? b->exactTerm[q] : 0xffffffffu;
		sum += shareOf(pairing, s <= t ? a->exactValue[p] : 0, t <= s ? b->exactValue[q] : 0);
		p += s <= t;
		q += t <= s;
	}
	return sum / 2;
}

// tableOf evaluates a table by Horner's rule in float32; what is no c gets its last row, which holds NaN.
DEVICE double tableOf(const Table GLOBAL *t, float c) {
	const unsigned b = (unsigned)t->bits;
	float u = c * 0x1p24f;
	unsigned fold = 0;
	if (c > 1) {
		u = 2 - c;
		u = (u > 0x1p-24f ? u : 0x1p-24f) * 0x1p24f;
		fold = 25u << b;
	}
	const unsigned m = __builtin_bit_cast(unsigned, u);
	const unsigned last = 176u << b;
	unsigned row = (m >> (23 - b)) + fold;
	row = row < last ? row : last;
	const unsigned mantissa = (m & 0x7fffffu) | 0x3f800000u;
	const unsigned mid = (mantissa & ~((1u << (23 - b)) - 1)) | 1u << (22 - b);
	const float s = __builtin_bit_cast(float, mantissa) - __builtin_bit_cast(float, mid);
	const float4 low = load4(t->rows + 2 * row), high = load4(t->rows + 2 * row + 1);
	const float v = fmaf(fmaf(fmaf(fmaf(fmaf(high.y, s, high.x), s, low.w), s, low.z), s, low.y), s, low.x);
	return t->log ? expOf(v) : (double)v;
}

// The instructions of package device.
enum { C, CONST, X, Y, LOCAL, STORE, ADD, SUB, MUL, DIV, NEG, SQRT, EXP, EXPM1, LOG1P, TANH, POWER, POW, DEFICIT, TABLE, CLAMP, SELECT };

// run applies a program to one c. The stack, but for its top, and the locals stand in shared memory, a column for each thread.
DEVICE double run(const Program *p, double (*slots)[FINISH_THREADS], float c, long long row, long long column) {
	const unsigned me = threadIdx.x;
	double top = 0;
	int depth = (int)p->locals; // of what lies below the top, the 0 at the bottom counted
	for (long long at = 0; at < p->length; at++) {
		const unsigned code = p->code[at], n = code >> 8;
		const unsigned op = code & 255;
		if (op <= LOCAL) { // those that push
			slots[depth++][me] = top;
			if (op == C) top = c;
			else if (op == CONST) top = p->consts[n];
			else if (op == X) top = p->x[n * p->rows + row];
			else if (op == Y) top = p->y[n * p->columns + column];
			else top = slots[n][me];
		} else if (op == STORE) {
			slots[n][me] = top;
			top = slots[--depth][me];
		} else if (op <= DIV) { // those that take two
			const double u = slots[--depth][me];
			if (op == ADD) top = u + top;
			else if (op == SUB) top = u - top;
			else if (op == MUL) top = u * top;
			else top = u / top;
		} else if (op == TABLE) top = tableOf(p->tables + n, (float)top);
		else if (op == NEG) top = -top;
		else if (op == SQRT) top = sqrt(top);
		else if (op == EXP) top = expOf(top);
		else if (op == EXPM1) top = expm1Of(top);
		else if (op == LOG1P) top = log1pOf(top);
		else if (op == TANH) top = tanhOf(top);
		else if (op == POWER) top = powerOf(top, n);
		else if (op == POW) top = powOf(top, p->consts[n]);
		else if (op == DEFICIT) top = deficitOf(top, p->consts[n]);
		else if (op == CLAMP) top = top < 0 ? 0 : top > 2 ? 2 : top;
		else { // SELECT
			const double u = slots[--depth][me], w = slots[--depth][me];
			if (w > 0) top = u;
		}
	}
	return top;
}

// finish turns sums of products into c and c into a kernel's value,
//
//	c = min(max(1 - s, 0), 2), exact where it is below 0.1, 0 for a document and itself
//	value[r][j] = program(c)
//
// same says that rows and columns are the same documents. program may be null: then the value is c.
extern "C" __global__ void __launch_bounds__(FINISH_THREADS) finish(const Side *__restrict__ rows, const Side *__restrict__ cols, const Tile *__restrict__ tile,
	const Program *__restrict__ program, int same, int pairing) {
	__shared__ double slots[SLOTS][FINISH_THREADS];
	const long long j = (long long)blockIdx.x * FINISH_THREADS + threadIdx.x;
	if (j >= tile->cols) return;
	const unsigned row = blockIdx.y, doc = tile->docs[row], other = (unsigned)(tile->lo + j);
	float GLOBAL *out = tile->value + row * tile->stride + j;
	float c = 1 - *out;
	c = c < 0 ? 0 : c > 2 ? 2 : c; // NaN stays
	if (c < 0.1f) c = same && doc == other ? 0 : (float)exactC(rows, doc, cols, other, pairing);
	*out = program ? (float)run(program, slots, c, tile->first + row, j) : c;
}

// mirror copies the lower triangle of an n×n matrix into the upper one, a square of MIRROR × MIRROR values a block, through shared memory so that rows are read and
// written as they lie. Squares on the diagonal are whole already.
extern "C" __global__ void __launch_bounds__(MIRROR_THREADS) mirror(float *__restrict__ value, long long stride, long long n) {
	__shared__ float square[MIRROR][MIRROR + 1]; // one more, so that a column's values lie in different banks
	if (blockIdx.x <= blockIdx.y) return;
	const unsigned x = threadIdx.x % MIRROR, rows = MIRROR_THREADS / MIRROR;
	for (unsigned y = threadIdx.x / MIRROR; y < MIRROR; y += rows) {
		const long long i = (long long)blockIdx.x * MIRROR + y, j = (long long)blockIdx.y * MIRROR + x;
		if (i < n && j < n) square[y][x] = value[i * stride + j];
	}
	__syncthreads();
	for (unsigned y = threadIdx.x / MIRROR; y < MIRROR; y += rows) {
		const long long i = (long long)blockIdx.y * MIRROR + y, j = (long long)blockIdx.x * MIRROR + x;
		if (i < n && j < n) value[i * stride + j] = square[x][y];
	}
}

// What measures the device, to hold the others against. All write what they have computed, so that it is.

// peakMadd does 8 × rounds fused multiply-adds a thread.
extern "C" __global__ void __launch_bounds__(PEAK_THREADS) peakMadd(float *__restrict__ out, float x, float y, int rounds) {
	float v[8];
#pragma unroll
	for (int i = 0; i < 8; i++) v[i] = (float)(threadIdx.x + i);
	for (int r = 0; r < rounds; r++) {
#pragma unroll
		for (int i = 0; i < 8; i++) v[i] = fmaf(v[i], x, y);
	}
	float sum = 0;
#pragma unroll
	for (int i = 0; i < 8; i++) sum += v[i];
	out[blockIdx.x * PEAK_THREADS + threadIdx.x] = sum;
}

// peakShared reads 8 × 16 × rounds bytes of shared memory a thread, as panelDot reads its panel: a warp one line of 512 bytes after the other.
extern "C" __global__ void __launch_bounds__(PEAK_THREADS) peakShared(float *__restrict__ out, int step, int rounds) {
	__shared__ float4 lines[64 * 32];
	for (unsigned i = threadIdx.x; i < 64 * 32; i += PEAK_THREADS) {
		const float f = (float)i;
		const float4 v = {f, f, f, f};
		store4(&lines[i], v);
	}
	__syncthreads();
	unsigned at = threadIdx.x % 32;
	float4 sum = {0, 0, 0, 0};
	for (int r = 0; r < rounds; r++) {
#pragma unroll
		for (int i = 0; i < 8; i++) {
			const float4 v = load4(&lines[at]);
			at = (at + step) % (64 * 32);
			sum.x += v.x;
			sum.y += v.y;
			sum.z += v.z;
			sum.w += v.w;
		}
	}
	out[blockIdx.x * PEAK_THREADS + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}

#include "solve.h"
#include "tensor.h"
