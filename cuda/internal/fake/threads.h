// Takes the place of cpu.h where each CUDA thread is a thread of the system, so that
// ThreadSanitizer sees which accesses nothing orders. Blocks run one after the other here, too: of
// races between blocks nothing shows.
#pragma once

// ThreadSanitizer tells 255 threads apart, of all blocks' sizes together, and misses races where
// there are more: blocks have fewer here. What the kernels do is the same.
#define FEWER(usual, fewer) fewer
#include "cpu.h"

#include <pthread.h>
#include <set>

namespace cpu {
inline int left = -1;          // the line of the barrier that is left out
inline std::set<int> barriers; // the lines of those that threads came to
inline const std::function<void()> *task;

// Crew is as many threads as a block has; they serve one block after the other.
struct Crew {
	pthread_barrier_t begin, inside, end, warp[1024 / 32];
	struct Member {
		Crew *crew;
		unsigned number;
	};
	std::vector<Member> members;
};
inline thread_local Crew *crew;

inline void *serve(void *of) {
	const auto *m = (Crew::Member *)of;
	crew = m->crew;
	threadAt = {m->number, 0};
	for (;;) {
		pthread_barrier_wait(&crew->begin);
		(*task)();
		pthread_barrier_wait(&crew->end);
	}
}

inline Crew &crewOf(unsigned n) {
	static auto &all = *new std::map<unsigned, Crew>; // not ended before the threads are
	auto [at, made] = all.try_emplace(n);
	Crew &c = at->second;
	if (!made) return c;
	pthread_barrier_init(&c.begin, nullptr, n + 1);
	pthread_barrier_init(&c.inside, nullptr, n);
	pthread_barrier_init(&c.end, nullptr, n + 1);
	for (unsigned w = 0; w < n / 32; w++) pthread_barrier_init(&c.warp[w], nullptr, 32);
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	for (unsigned i = 0; i < n; i++) c.members.push_back({&c, i});
	for (auto &m : c.members) {
		pthread_t t;
		if (pthread_create(&t, &small, serve, &m)) die("no thread", (int)m.number, (int)n);
		pthread_detach(t);
	}
	return c;
}

inline void runThreads(const std::function<void()> &f) {
	Crew &c = crewOf(block.x);
	task = &f;
	pthread_barrier_wait(&c.begin);
	pthread_barrier_wait(&c.end);
}

inline void waitThreads(int line) {
	if (!threadAt.x) barriers.insert(line);
	if (line != left) pthread_barrier_wait(&crew->inside);
}

inline void meetThreads() { pthread_barrier_wait(&crew->warp[threadAt.x / 32]); }

static const int threads = (run = runThreads, wait = waitThreads, meet = meetThreads, 0);
} // namespace cpu
