// Runs the kernels on the CPU, for tests: one fiber for each CUDA thread, switched where it waits
// for the others. Blocks run one after the other, so shared memory is static. Takes the place of
// kernels/cuda_min.h.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <ucontext.h>
#include <vector>

#include <math.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#define GRAM_ON_CPU
#define __global__
#define __device__
#define __launch_bounds__(...)
#define __shared__ static
#define __restrict__ __restrict
#define DEVICE static inline
#define DYNAMIC_SHARED(type, name) type *name = (type *)cpu::dynamic

struct alignas(16) float4 {
	float x, y, z, w;
};
struct alignas(16) uint4 {
	unsigned x, y, z, w;
};
struct dim3 {
	unsigned x, y;
};

namespace cpu {
enum State { READY, WAITING, IN_WARP, DONE };
struct Fiber {
	void *at[5]; // where it goes on
	std::vector<char> stack;
	State state = DONE;
	bool started = false;
	int line; // where it waits
};
#ifdef GRAM_THREADS // a thread of the system for each CUDA thread, see threads.h
inline thread_local dim3 threadAt;
#else
inline dim3 threadAt;
#endif
inline dim3 grid, block, blockAt;
inline void *dynamic; // shared memory whose size the launch says
inline Fiber fibers[1024]; // as many threads as a block may have
inline Fiber *current;
inline void *scheduler[5];
inline const std::function<void()> *body;

inline void die(const char *what, int a, int b) {
	fprintf(stderr, "fake CUDA: %s (%d, %d)\n", what, a, b);
	abort();
}

// Switching by jumps costs some nanoseconds; swapcontext, which asks the system for the signal mask
// each time, is for the first entry alone. AddressSanitizer, which keeps a shadow of the stack it
// is on, is told.
__attribute__((noinline)) inline void jump(void **to) { __builtin_longjmp(to, 1); }
inline void begin();
__attribute__((noinline)) inline void first(Fiber &f) {
	static ucontext_t here, there;
	f.stack.resize(64 << 10);
	f.started = true;
	getcontext(&there);
	there.uc_stack.ss_sp = f.stack.data();
	there.uc_stack.ss_size = f.stack.size();
	makecontext(&there, begin, 0);
	swapcontext(&here, &there);
}
#ifdef __SANITIZE_ADDRESS__
inline const void *mainStack;
inline size_t mainSize;
#define SWITCH_TO(stack, size) void *shadow; __sanitizer_start_switch_fiber(&shadow, stack, size)
#define SWITCHED(stack, size) __sanitizer_finish_switch_fiber(shadow, stack, size)
#else
#define SWITCH_TO(stack, size)
#define SWITCHED(stack, size)
#endif
__attribute__((noinline)) inline void enter(Fiber &f) {
	if (!f.started) f.stack.resize(64 << 10);
	SWITCH_TO(f.stack.data(), f.stack.size());
	if (!__builtin_setjmp(scheduler)) {
		if (f.started) jump(f.at);
		first(f);
	}
	SWITCHED(nullptr, nullptr);
}
__attribute__((noinline)) inline void leave(Fiber &f) {
	SWITCH_TO(mainStack, mainSize);
	if (!__builtin_setjmp(f.at)) jump(scheduler);
	SWITCHED(&mainStack, &mainSize);
}
// begin is where a fiber starts; it serves one block after the other.
inline void begin() {
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_finish_switch_fiber(nullptr, &mainStack, &mainSize);
#endif
	for (;;) {
		(*body)();
		current->state = DONE;
		leave(*current);
	}
}

// barrier is __syncthreads().
inline void barrier(int line) {
	Fiber *me = current;
	me->state = WAITING;
	me->line = line;
	leave(*me);
}

// Products of matrices and words of other lanes, which the 32 lanes of a warp come to together: each
// leaves its part, waits for the others and makes its own part of the result. A lane that is one
// ahead leaves its part elsewhere, and none gets further.
struct Sides {
	signed char left[16][32], right[8][32]; // rows, and columns
};
inline Sides sides[1024 / 32][2];
inline unsigned products[1024]; // and words that a thread has come to

// meet waits for the other lanes of a warp; threads.h puts another in its place.
inline void meetFibers() {
	Fiber *me = current;
	me->state = IN_WARP;
	leave(*me);
}
inline void (*meet)() = meetFibers;

// mma is what PTX calls mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32. Lane 4g+t has bytes 4t and
// on, and 16+4t and on, of rows g and g+8 on the left and of column g on the right.
inline void mma(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
	const unsigned g = threadAt.x % 32 / 4, t = threadAt.x % 4;
	Sides &s = sides[threadAt.x / 32][products[threadAt.x]++ % 2];
	for (int half = 0; half < 2; half++) {
		memcpy(&s.left[g][16 * half + 4 * t], &a[2 * half], 4);
		memcpy(&s.left[g + 8][16 * half + 4 * t], &a[2 * half + 1], 4);
		memcpy(&s.right[g][16 * half + 4 * t], &b[half], 4);
	}
	meet();
	for (int i = 0; i < 4; i++) {
		const signed char *x = s.left[g + i / 2 * 8], *y = s.right[2 * t + i % 2];
		int sum = 0;
		for (int k = 0; k < 32; k++) sum += x[k] * y[k];
		d[i] = (int)((unsigned)d[i] + (unsigned)sum);
	}
}

// loadMatrices is what PTX calls ldmatrix.sync.aligned.m8n8.x4: lane 8q+i has the place of line i of
// matrix q, and lane 4g+t gets bytes 4t and on of line g of each.
inline const char *lines[1024 / 32][2][32];
inline void loadMatrices(unsigned (&d)[4], const void *line) {
	if ((size_t)line % 16) die("a line of a matrix at an address that is no multiple of 16", 0, 0);
	const unsigned lane = threadAt.x % 32;
	auto &l = lines[threadAt.x / 32][products[threadAt.x]++ % 2];
	l[lane] = (const char *)line;
	meet();
	for (int q = 0; q < 4; q++) memcpy(&d[q], l[8 * q + lane / 4] + 4 * (lane % 4), 4);
}

// shuffle gives each lane of a warp the word of another.
inline unsigned words[1024 / 32][2][32];
inline unsigned shuffle(unsigned v, unsigned lane) {
	auto &w = words[threadAt.x / 32][products[threadAt.x]++ % 2];
	w[threadAt.x % 32] = v;
	meet();
	return w[lane];
}

// ballot gives each lane of a warp a bit of every lane.
inline unsigned ballot(bool v) {
	auto &w = words[threadAt.x / 32][products[threadAt.x]++ % 2];
	w[threadAt.x % 32] = v;
	meet();
	unsigned bits = 0;
	for (unsigned i = 0; i < 32; i++) bits |= w[i] << i;
	return bits;
}

// together lets the warps go on whose lanes have all come to a product, the same one, and says
// whether there are any.
inline bool together(unsigned n) {
	bool any = false;
	for (unsigned w = 0; w < n; w += 32) {
		const unsigned end = std::min(w + 32, n);
		unsigned here = 0;
		for (unsigned i = w; i < end; i++) here += fibers[i].state == IN_WARP && products[i] == products[w];
		if (here == 32)
			for (unsigned i = w; i < end; i++) fibers[i].state = READY;
		else
			for (unsigned i = w; i < end; i++)
				if (fibers[i].state == IN_WARP)
					die("not all lanes of a warp come to a product of matrices, a shuffle or a ballot: warp, lanes",
						w / 32, here);
		any |= here == 32;
	}
	return any;
}

// runBlock runs the threads of a block in a random order between barriers; they must all reach the
// same ones.
inline void runBlock(const std::function<void()> &f) {
	static std::mt19937 random(1);
	const unsigned n = block.x;
	std::vector<unsigned> order(n);
	for (unsigned i = 0; i < n; i++) order[i] = i;
	std::shuffle(order.begin(), order.end(), random);
	body = &f;
	for (unsigned i = 0; i < n; i++) fibers[i].state = READY, products[i] = 0;
	for (;;) {
		for (unsigned i : order) {
			current = &fibers[i];
			threadAt = {i, 0};
			if (current->state == READY) enter(*current);
		}
		if (together(n)) continue;
		unsigned waiting = 0, done = 0;
		int line = 0;
		for (unsigned i = 0; i < n; i++) {
			Fiber &b = fibers[i];
			done += b.state == DONE;
			if (b.state != WAITING) continue;
			waiting++;
			if (line && line != b.line) die("threads wait at different barriers: lines", line, b.line);
			line = b.line;
		}
		if (done == n) return;
		if (waiting != n) die("not all threads reach a barrier: line, threads", line, waiting);
		for (unsigned i = 0; i < n; i++) fibers[i].state = READY;
	}
}

// Kernels by name, with what runs them from a list of pointers to parameters.
struct Kernel {
	std::function<std::function<void()>(void **)> bind;
	int parameters;
};
inline std::map<std::string, Kernel> &kernels() {
	static std::map<std::string, Kernel> all;
	return all;
}
template <class... A, size_t... I> auto binder(void (*f)(A...), std::index_sequence<I...>) {
	return [f](void **p) { return std::function<void()>([=] { f(*(A *)p[I]...); }); };
}
template <class... A> auto binder(void (*f)(A...)) { return binder(f, std::index_sequence_for<A...>{}); }
template <class... A> int parameters(void (*)(A...)) { return sizeof...(A); }

// What runs a block and waits at a barrier: fibers, or what threads.h puts in their place.
inline void (*run)(const std::function<void()> &) = runBlock;
inline void (*wait)(int line) = barrier;

// launch runs a grid. Shared memory holds NaN at first, so that reading what nobody wrote shows.
inline void launch(const Kernel &k, dim3 g, dim3 b, size_t shared, void **parameters) {
	auto f = k.bind(parameters);
	grid = g, block = b;
	std::vector<float4> memory((shared + 15) / 16);
	for (unsigned y = 0; y < g.y; y++)
		for (unsigned x = 0; x < g.x; x++) {
			if (!memory.empty()) memset((void *)memory.data(), 0xff, memory.size() * 16);
			dynamic = memory.data();
			blockAt = {x, y};
			run(f);
		}
}
} // namespace cpu

#define threadIdx (cpu::threadAt)
#define blockIdx (cpu::blockAt)
#define __syncthreads() cpu::wait(__LINE__)
#define mmaS8(d, a, b) cpu::mma(d, a, b)
#define loadMatrices(d, line) cpu::loadMatrices(d, line)
#define shuffle(v, lane) cpu::shuffle(v, lane)
#define ballot(v) cpu::ballot(v)
#define KERNEL(name)                                                                                         \
	static int registered_##name = (cpu::kernels()[#name] = {cpu::binder(name), cpu::parameters(name)}, 0);

template <class V> static inline V load4(const V *p) {
	if ((size_t)p % 16) cpu::die("a load of 16 bytes from an address that is no multiple of 16", 0, 0);
	return *p;
}
template <class V> static inline void store4(V *p, V v) {
	if ((size_t)p % 16) cpu::die("a store of 16 bytes to an address that is no multiple of 16", 0, 0);
	*p = v;
}
static inline int atomicAdd(int *p, int v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
static inline void atomicOr(unsigned *p, unsigned v) { __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }
static inline long long nearest(float v) { return llrintf(v); }
typedef int Two __attribute__((vector_size(8)));
typedef unsigned long long Entries __attribute__((vector_size(16)));
static inline long long multiplyAdd(int a, int b, long long c) { return c + (long long)a * b; }
static inline unsigned highestBit(unsigned v) { return 31 - __builtin_clz(v); }
static inline void later(long long &) {}
