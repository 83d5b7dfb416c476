// What the kernels need of CUDA's own headers, for clang -nocudainc -nocudalib. The CPU tests put another header in its place (cuda/internal/fake/cpu.h).
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __restrict__ __restrict
#define DEVICE static __device__ inline __attribute__((always_inline))
#define GLOBAL __attribute__((address_space(1)))
#define DYNAMIC_SHARED(type, name) extern __shared__ type name[]

// The special registers, by the names that CUDA gives them.
#define REGISTER(name, sreg)                                                                       \
	struct name##_t {                                                                              \
		__declspec(property(get = get_x)) unsigned x;                                              \
		__declspec(property(get = get_y)) unsigned y;                                              \
		__device__ unsigned get_x() const { return __nvvm_read_ptx_sreg_##sreg##_x(); }            \
		__device__ unsigned get_y() const { return __nvvm_read_ptx_sreg_##sreg##_y(); }            \
	};                                                                                             \
	extern const __device__ __attribute__((weak)) name##_t name;
REGISTER(threadIdx, tid)
REGISTER(blockIdx, ctaid)
#undef REGISTER

struct alignas(16) float4 {
	float x, y, z, w;
};
struct alignas(16) uint4 {
	unsigned x, y, z, w;
};
typedef float vector4 __attribute__((ext_vector_type(4)));
typedef unsigned words4 __attribute__((ext_vector_type(4)));

// One access of 16 bytes.
DEVICE float4 load4(const float4 *p) {
	vector4 v = *(const vector4 *)p;
	float4 r = {v.x, v.y, v.z, v.w};
	return r;
}
DEVICE float4 load4(const float4 GLOBAL *p) {
	vector4 v = *(const vector4 GLOBAL *)p;
	float4 r = {v.x, v.y, v.z, v.w};
	return r;
}
DEVICE void store4(float4 *p, float4 v) {
	vector4 r = {v.x, v.y, v.z, v.w};
	*(vector4 *)p = r;
}
DEVICE void store4(float4 GLOBAL *p, float4 v) {
	vector4 r = {v.x, v.y, v.z, v.w};
	*(vector4 GLOBAL *)p = r;
}
DEVICE uint4 load4(const uint4 *p) {
	words4 v = *(const words4 *)p;
	uint4 r = {v.x, v.y, v.z, v.w};
	return r;
}
DEVICE uint4 load4(const uint4 GLOBAL *p) {
	words4 v = *(const words4 GLOBAL *)p;
	uint4 r = {v.x, v.y, v.z, v.w};
	return r;
}
DEVICE void store4(uint4 *p, uint4 v) {
	words4 r = {v.x, v.y, v.z, v.w};
	*(words4 *)p = r;
}

// mmaS8 is the product of two matrices of bytes with a sign, of 16 rows by 32 and 32 by 8 columns, added to one of 16 by 8 words: d += a b. A warp does it together, and each
// lane has parts of all three, see panelTensor.
DEVICE void mmaS8(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
	asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
		: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

DEVICE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DEVICE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
DEVICE double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
DEVICE double rint(double x) { return __builtin_rint(x); }
DEVICE void atomicAdd(unsigned long long *p, unsigned long long v) { __nvvm_atom_add_gen_ll((long long *)p, (long long)v); }
