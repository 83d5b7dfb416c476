// The dense end: the most frequent terms, whose products the tensor cores take, of all documents
// alike, whether they have the term or not. Included by gram.cu.
#pragma once

// Values are whole numbers here, q = rint(Q a / A) with Q = 127·2^24 and a scale A of the document,
// the least power of two above all its |a| in the dense end, but at most 1 and at least 2^-4. They
// are written with four digits of base 256 from -128 to 127, q = d0 2^24 + d1 2^16 + d2 2^8 + d3,
// and |d0| <= 127 since |a| <= A. Of the 16 products of digits the ten with i + j <= 3 are taken,
//
//	Q²/(A B) Σ_t a_t b_t = Σ_t q_t q'_t = 2^24 (2^24 S0 + 2^16 S1 + 2^8 S2 + S3) + what is left out,
//	Sn = Σ_t Σ_{i+j=n} d_i d'_j
//
// The sums are exact: |Sn| <= 4·2^14·1024 for up to 1,024 terms, and the tensor cores add bytes'
// products in 32 bits. So there is no rounding to know of the hardware, (i, j) and (j, i) have the
// same bits in any order of the terms, and so has every device. The way is that of Ootomo, Ozaki
// and Yokota, "DGEMM on integer matrix multiplication unit", arXiv 2306.11975. Three products of
// TF32 parts would take 30 / 25 of the time by the rates of the hardware, err by up to 8·2^-24 in
// their parts, and carry the tensor cores' truncation, whose alignment NVIDIA doesn't document.
//
// Accuracy, for K terms and unit vectors, so that Σ|a_t| <= √K: rounding to q changes the sum by at
// most √K (A + B) / 2Q, 1.5·10^-8 for K = 1,024. What is left out, with digits up to 128, is at
// most K (3·2^30 + 2·2^22 + 2^14) A B / Q² = 7.1·10^-10 K A B if all went one way, as it does where
// a document has many equal values: with K of them A² <= 4/K or A = 2^-4, so that it is 2.9·10^-9.
// Digits that are as good as drawn by lot give 4·10^-9 A B for K = 1,024. The sum is rounded to a
// unit of 2^-30 once. Only documents made for it, with a value above ½ beside hundreds of equal
// small ones, all of unlucky digits, could come to 7.3·10^-7.
constexpr double TENSOR_UNIT = 0x1p-24 / (127 * 127); // of the sum in parentheses

static_assert(TENSOR_ROWS * TENSOR_COLUMNS == 32 * TENSOR_THREADS && TENSOR_COLUMNS % 32 == 0 && TENSOR_ROWS % 32 == 0);

// panelTensor adds the products of the dense end to what is there,
//
//	value[r][j] += Σ_t a_t b_t,  t in the dense end, steps × TENSOR_TERMS terms
//
// A block takes TENSOR_ROWS rows and TENSOR_COLUMNS columns, a warp 32 of each: two times four
// products of 16 by 8. TENSOR_TERMS terms at a time come through shared memory, one half of it
// being filled while the other is used. There the digits of a document are in an order of its own,
// so that eight lines that are loaded together are in different banks.
//
// Of a product of m16n8k32 (PTX ISA, "Matrix Fragments for mma.m16n8k32"), lane 4g+t has of the
// left side rows g and g+8 and of the right side column g, of both terms 4t … 4t+3 and 16+4t …
// 16+4t+3: what loadMatrices gives it of digits of 16 terms. Of the result it has rows g and g+8,
// columns 2t and 2t+1.
extern "C" __global__ void __launch_bounds__(TENSOR_THREADS, 1) panelTensor(
	const Side *__restrict__ rows, const Side *__restrict__ cols, const Tile *__restrict__ tile, int steps) {
	enum {
		UNITS = TENSOR_TERMS / 4, // of 16 bytes, that a document has of a step
		LINES = TENSOR_ROWS + TENSOR_COLUMNS,
		STRIDE = TENSOR_THREADS / UNITS,
		LOADS = LINES / STRIDE,
		DOWN = TENSOR_ROWS / 32
	};
	static_assert(STRIDE % UNITS == 0 && UNITS == 8);
	__shared__ Digits stage[2][LINES][UNITS];
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
	// in the tile
	const long long r0 = (long long)blockIdx.y * TENSOR_ROWS, c0 = (long long)blockIdx.x * TENSOR_COLUMNS;

	// Of each line that it copies a thread takes one unit a step.
	const unsigned line = threadIdx.x / UNITS, unit = threadIdx.x % UNITS, to = unit ^ line % UNITS;
	const Digits GLOBAL *from[LOADS];
	Digits next[LOADS];
#pragma unroll
	for (int i = 0; i < LOADS; i++) {
		const bool isRow = i * STRIDE < TENSOR_ROWS;
		const long long last = (isRow ? tile->rows - r0 : tile->cols - c0) - 1,
						at = line + i * STRIDE - (isRow ? 0 : TENSOR_ROWS);
		// what is computed of the last again is stored nowhere, or beyond the last column
		const long long place = (isRow ? r0 : c0) + (at < last ? at : last);
		const long long doc = isRow ? tile->docs[place] : tile->lo + place;
		from[i] = (isRow ? rows : cols)->dense + doc * steps * UNITS + unit;
		next[i] = load4(from[i]);
		store4(&stage[0][line + i * STRIDE][to], next[i]);
	}
	__syncthreads();

	// Warps that have no row or column of the tile only copy.
	const bool busy = r0 + warp % DOWN * 32 < tile->rows && c0 + warp / DOWN * 32 < tile->cols;
	// The lines that a lane says: of the left matrices rows 0 … 7 and 8 … 15 with the first 16 terms of
	// a digit, then with the others; of the right ones both parts of two digits.
	const unsigned left = warp % DOWN * 32 + lane % 16, right = TENSOR_ROWS + warp / DOWN * 32 + lane % 8;
	int sum[2][4][4][4] = {}; // [16 rows][8 columns][n of Sn]
	for (int step = 0; step < steps; step++) {
		const bool more = step + 1 < steps;
		if (more) {
#pragma unroll
			for (int i = 0; i < LOADS; i++) next[i] = load4(from[i] + (step + 1) * UNITS);
		}
		if (busy) {
			const Digits(*now)[UNITS] = stage[step % 2];
			unsigned a[2][4][4]; // [16 rows][digit]
#pragma unroll
			for (int m = 0; m < 2; m++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					loadMatrices(a[m][i], &now[left + 16 * m][(2 * i + lane / 16) ^ lane % 8]);
#pragma unroll
			for (int n = 0; n < 4; n++) {
				unsigned b[2][4]; // [two digits]
#pragma unroll
				for (int j = 0; j < 2; j++) loadMatrices(b[j], &now[right + 8 * n][(4 * j + lane / 8) ^ lane % 8]);
#pragma unroll
				for (int i = 0; i < 4; i++)
#pragma unroll
					for (int j = 0; i + j < 4; j++) {
						const unsigned digit[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
#pragma unroll
						for (int m = 0; m < 2; m++) mmaS8(sum[m][n][i + j], a[m][i], digit);
					}
			}
		}
		if (more) {
#pragma unroll
			for (int i = 0; i < LOADS; i++) store4(&stage[step % 2 ^ 1][line + i * STRIDE][to], next[i]);
		}
		__syncthreads();
	}

	// Columns beyond the last are there up to a multiple of PANEL. 2^8 S0 + S1 fits 32 bits: by
	// Cauchy-Schwarz |S0| <= (127/A + √K/2 + 1) (127/B + √K/2 + 1), below 2^22.1, and |S1| <=
	// 2·2^14·1024. The product with powers of two is exact.
	//
	// All that is there is loaded before the first sum is stored: the compiler can't see that no store
	// goes to a place that is loaded later.
	const long long stride = tile->stride, rowsLeft = tile->rows - r0, column = c0 + warp / DOWN * 32 + 2 * t;
	Two GLOBAL *corner = (Two GLOBAL *)((int GLOBAL *)tile->value + r0 * stride + column);
	const float GLOBAL *scale = cols->denseScale + tile->lo + column;
	double columnScale[4][2], rowScale[4];
	Two before[4][4]; // [2 m + half][n]
#pragma unroll
	for (int n = 0; n < 4; n++) columnScale[n][0] = scale[8 * n], columnScale[n][1] = scale[8 * n + 1];
#pragma unroll
	for (int i = 0; i < 4; i++) {
		const unsigned r = warp % DOWN * 32 + 8 * i + g;
		if (r >= rowsLeft) continue;
		rowScale[i] = rows->denseScale[tile->docs[r0 + r]] * (TENSOR_UNIT * 0x1p30);
#pragma unroll
		for (int n = 0; n < 4; n++) before[i][n] = corner[(r * stride + 8 * n) / 2];
	}
#pragma unroll
	for (int i = 0; i < 4; i++) {
		const unsigned r = warp % DOWN * 32 + 8 * i + g;
		if (r >= rowsLeft) continue;
#pragma unroll
		for (int n = 0; n < 4; n++) {
			Two after = before[i][n];
#pragma unroll
			for (int k = 0; k < 2; k++) {
				const int(&s)[4][4] = sum[i / 2][n];
				const int at = 2 * (i % 2) + k;
				const long long low = multiplyAdd(s[2][at], 256, s[3][at]);
				const long long whole = multiplyAdd(s[0][at] * 256 + s[1][at], 65536, low);
				after[k] += (int)rint((double)whole * rowScale[i] * columnScale[n][k]);
			}
			corner[(r * stride + 8 * n) / 2] = after;
		}
	}
}
