// What measures the device, to hold the kernels against. All write what they have computed, so that
// it is computed. Included by gram.cu.
#pragma once

// peakMadd does 8 × rounds fused multiply-adds a thread.
extern "C" __global__ void __launch_bounds__(PEAK_THREADS)
	peakMadd(float *__restrict__ out, float x, float y, int rounds) {
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

// peakShared reads 8 × 16 × rounds bytes of shared memory a thread, as panelDot reads its panel: a
// warp one line of 512 bytes after the other.
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
