// What the programs that run kernels under sanitizers share: how a kernel is launched, and a count
// of values that are wrong.
#pragma once

static std::mt19937 rng(7);
static int wrong;

// hold counts a value that isn't what was expected within a tolerance, and says so for the first
// ones.
static void hold(const char *what, long long i, long long j, double got, double want, double tolerance) {
	if (!(fabs(got - want) <= tolerance) && got != want && wrong++ < 5)
		printf("%s (%lld, %lld): found %g, expected %g\n", what, i, j, got, want);
}

template <class T> static T *pass(T *p) { return p; }

static const char *only;                    // if not null: other kernels are passed over
static void (*launched)(const char *kernel); // if not null: called after a kernel
template <class... A>
static void launch(const char *name, unsigned x, unsigned y, unsigned threads, size_t shared, A... a) {
	if (only && strcmp(only, name)) return;
	void *pointers[] = {&a...};
	cpu::launch(cpu::kernels().at(name), {x, y}, {threads, 1}, shared, pointers);
	if (launched) launched(name);
}
