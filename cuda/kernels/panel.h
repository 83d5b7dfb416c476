// The frequent terms, by panels of columns, and what is made of the sums. Included by gram.cu.
#pragma once

// loadEntries loads AT_ONCE entries, 16 bytes at a time.
DEVICE void loadEntries(Entry *to, const Entry GLOBAL *from) {
#pragma unroll
	for (int i = 0; i < AT_ONCE; i += 2) {
		const Entries two = *(const Entries GLOBAL *)(from + i);
		to[i] = two[0], to[i + 1] = two[1];
	}
}

// multiply adds up the products of AT_ONCE values of a row with four columns, and loads the next
// ones.
template <int pairing>
DEVICE void multiply(long long *sum, const char *columns, Entry *ahead, const Entry GLOBAL *next) {
	Entry now[AT_ONCE];
#pragma unroll
	for (int i = 0; i < AT_ONCE; i++) now[i] = ahead[i];
	loadEntries(ahead, next);
#pragma unroll
	for (int i = 0; i < AT_ONCE; i++) {
		const uint4 b = load4((const uint4 *)(columns + placeOf(now[i])));
		const unsigned a = wordOf(now[i]);
		sum[0] = addUnits<pairing>(sum[0], a, b.x), sum[1] = addUnits<pairing>(sum[1], a, b.y);
		sum[2] = addUnits<pairing>(sum[2], a, b.z), sum[3] = addUnits<pairing>(sum[3], a, b.w);
	}
}

// panelDot adds the head's products of some rows with a panel, PANEL columns, to what is there, and
// makes c of the sum, and a kernel's value where its program is a table,
//
//	s[r][j] = value[r][j] + Σ_t a_t b_t,  t in the head
//	c = min(max(1 - s, 0), 2), 0 for a document and itself
//	value[r][j] = table(c)
//
// Pairs with c < 0.1 get a bit, for closePairs. same says that rows and columns are the same
// documents. Without a program, which may be null, and with one that isn't a table, the value is c.
//
// The panel's values of a chunk of terms stand in shared memory, [1+terms][PANEL]; each warp
// streams other documents past it, a value at a time: every lane multiplies it with four columns.
// While it does, it loads the next entries, the next row's place and the number of the one after
// it. After each chunk but the last sums are rounded to units of 2^-30, which err by half a unit.
template <int pairing>
DEVICE void panelOf(const Side *__restrict__ rows, const Side *__restrict__ cols, const Head *__restrict__ head,
	const Tile *__restrict__ tile, const Program *__restrict__ program, int rowsPerBlock, int same) {
	DYNAMIC_SHARED(uint4, panel);
	const unsigned lane = threadIdx.x % 32, warps = PANEL_THREADS / 32;
	const unsigned column = blockIdx.x * PANEL; // in the tile
	const long long chunks = head->chunks, stride = tile->stride;
	const long long r0 = (long long)blockIdx.y * rowsPerBlock;
	const long long r1 = r0 + rowsPerBlock < tile->rows ? r0 + rowsPerBlock : tile->rows;
	const unsigned GLOBAL *docs = tile->docs;
	const Table GLOBAL *const only = program ? program->only : nullptr;
	for (long long chunk = 0; chunk < chunks; chunk++) {
		const uint4 zero = {0, 0, 0, 0};
		for (int i = threadIdx.x; i < (1 + head->terms[chunk]) * (PANEL / 4); i += PANEL_THREADS)
			store4(&panel[i], zero);
		__syncthreads();
		// Neighbouring threads scatter neighbouring documents, into banks of their own.
		const unsigned own = threadIdx.x % PANEL;
		if (column + own < tile->cols) {
			const long long GLOBAL *part = cols->head + (tile->lo + column + own) * chunks + chunk;
			const long long end = part[1];
			for (long long k = part[0] + threadIdx.x / PANEL; k < end; k += PANEL_THREADS / PANEL) {
				const Entry e = cols->entry[k];
				if (placeOf(e)) *(unsigned *)((char *)panel + placeOf(e) + 4 * own) = wordOf(e);
			}
		}
		__syncthreads();
		long long r = r0 + threadIdx.x / 32;
		if (r < r1) {
			const char *const mine = (const char *)(panel + lane);
			unsigned doc = docs[r], next = docs[r + warps < r1 ? r + warps : r];
			const Entry GLOBAL *p = rows->entry + rows->head[doc * chunks + chunk];
			const Entry GLOBAL *end = rows->entry + rows->head[doc * chunks + chunk + 1];
			Entry ahead[AT_ONCE];
			loadEntries(ahead, p);
			for (; r < r1; r += warps) {
				const unsigned afterNext = docs[r + 2 * warps < r1 ? r + 2 * warps : r];
				long long nextFrom = rows->head[next * chunks + chunk], nextTo = rows->head[next * chunks + chunk + 1];
				float GLOBAL *out = tile->value + r * stride + column + 4 * lane;
				const uint4 before = load4((const uint4 GLOBAL *)out);
				long long sum[4] = {};
				for (; p + AT_ONCE < end; p += AT_ONCE) multiply<pairing>(sum, mine, ahead, p + AT_ONCE);
				later(nextFrom);
				p = rows->entry + nextFrom, end = rows->entry + nextTo;
				multiply<pairing>(sum, mine, ahead, p);
				const uint4 s = {before.x + (unsigned)rounded(sum[0]), before.y + (unsigned)rounded(sum[1]),
					before.z + (unsigned)rounded(sum[2]), before.w + (unsigned)rounded(sum[3])};
				if (chunk + 1 < chunks) {
					store4((uint4 GLOBAL *)out, s);
				} else {
					float c[4] = {fromUnits((int)s.x), fromUnits((int)s.y), fromUnits((int)s.z), fromUnits((int)s.w)};
					const float least = fminf(fminf(c[0], c[1]), fminf(c[2], c[3]));
					if (least < 0.1f) {
#pragma unroll
						for (unsigned k = 0; k < 4; k++) {
							const unsigned j = column + 4 * lane + k;
							if (c[k] >= 0.1f || j >= tile->cols) continue;
							if (same && doc == tile->lo + j)
								c[k] = 0;
							else
								atomicOr(tile->close + r * closeWords(tile) + j / 32, 1u << j % 32);
						}
					}
					float4 v = {c[0], c[1], c[2], c[3]};
					if (only) v = {inTable(only, v.x), inTable(only, v.y), inTable(only, v.z), inTable(only, v.w)};
					store4((float4 GLOBAL *)out, v);
				}
				doc = next, next = afterNext;
			}
		}
		__syncthreads();
	}
}

#define PANEL_KERNEL(name, pairing, blocks)                                                                \
	extern "C" __global__ void __launch_bounds__(PANEL_THREADS, blocks) name(const Side *__restrict__ rows, \
		const Side *__restrict__ cols, const Head *__restrict__ head, const Tile *__restrict__ tile, \
		const Program *__restrict__ program, int rowsPerBlock, int same) {                         \
		panelOf<pairing>(rows, cols, head, tile, program, rowsPerBlock, same);                     \
	}
PANEL_KERNEL(panelDot, DOT, PANEL_BLOCKS)
PANEL_KERNEL(panelChiSquare, CHI_SQUARE, 1)
PANEL_KERNEL(panelJensenShannon, JENSEN_SHANNON, 1)

// applyProgram makes a kernel's values of a tile's c, a block a row. Few requests need it: those for
// neighbours, and kernels that aren't one table. In panelDot it would double the registers of a thread.
//
//	value[r][j] = program(value[r][j])
extern "C" __global__ void __launch_bounds__(REDUCE_THREADS)
	applyProgram(const Tile *__restrict__ tile, const Program *__restrict__ program) {
	const long long row = blockIdx.x;
	float GLOBAL *value = tile->value + row * tile->stride;
	for (long long j = threadIdx.x; j < tile->cols; j += REDUCE_THREADS)
		value[j] = (float)run(program, value[j], tile->first + row, j);
}
