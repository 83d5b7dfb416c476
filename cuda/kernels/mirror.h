#pragma once
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

