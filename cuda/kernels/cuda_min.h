// What the kernels need of CUDA's own headers, for clang -nocudainc -nocudalib. The CPU tests put
// another header in its place (cuda/internal/fake/cpu.h).
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
typedef int Two __attribute__((ext_vector_type(2)));
typedef unsigned long long Entries __attribute__((ext_vector_type(2)));

// One access of 16 bytes.
#define ACCESS(type, vector, space)                                                                \
	DEVICE type load4(const type space *p) {                                                       \
		const vector v = *(const vector space *)p;                                                 \
		return {v.x, v.y, v.z, v.w};                                                               \
	}                                                                                              \
	DEVICE void store4(type space *p, type v) {                                                    \
		const vector r = {v.x, v.y, v.z, v.w};                                                     \
		*(vector space *)p = r;                                                                    \
	}
ACCESS(float4, vector4, )
ACCESS(float4, vector4, GLOBAL)
ACCESS(uint4, words4, )
ACCESS(uint4, words4, GLOBAL)
#undef ACCESS

// mmaS8 is the product of two matrices of bytes with a sign, of 16 rows by 32 and 32 by 8 columns,
// added to one of 16 by 8 words: d += a b. A warp does it together, and each lane has parts of all
// three, see panelTensor.
DEVICE void mmaS8(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
	asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
		"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
		: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// loadMatrices loads four matrices of eight lines of 16 bytes from shared memory, a warp together:
// lane 8q+i says where line i of matrix q is, and of each matrix d[q], for lane 4g+t, are the bytes
// 4t … 4t+3 of line g.
DEVICE void loadMatrices(unsigned (&d)[4], const uint4 *line) {
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
				 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
				 : "r"((unsigned)(unsigned long long)(const __attribute__((address_space(3))) uint4 *)line)
				 : "memory");
}

DEVICE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DEVICE float fminf(float a, float b) { return __builtin_fminf(a, b); }
DEVICE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
DEVICE double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
DEVICE double rint(double x) { return __builtin_rint(x); }
DEVICE long long nearest(float x) { return __nvvm_f2ll_rn(x); }
// a b + c: in two steps for ptxas, which otherwise takes the sum apart, and so does clang.
DEVICE long long multiplyAdd(int a, int b, long long c) {
	asm("{ .reg .s64 product; mul.wide.s32 product, %1, %2; add.s64 %0, product, %0; }" : "+l"(c) : "r"(a), "r"(b));
	return c;
}
// Nothing is made of v before this, lest the thread waits for a load of it.
DEVICE void later(long long &v) { asm volatile("" : "+l"(v)); }
DEVICE int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
DEVICE void atomicOr(unsigned GLOBAL *p, unsigned v) { __nvvm_atom_or_gen_i((int *)p, (int)v); }

DEVICE unsigned highestBit(unsigned v) { return 31 - (unsigned)__builtin_clz(v); } // of v > 0

// A bit for each lane of the warp, whether it has v; all lanes come here together.
DEVICE unsigned ballot(bool v) { return __nvvm_vote_ballot_sync(~0u, v); }

// The word that another lane of the warp has; all lanes come here together.
DEVICE unsigned shuffle(unsigned v, unsigned lane) {
	return (unsigned)__nvvm_shfl_sync_idx_i32(-1, (int)v, (int)lane, 31);
}
