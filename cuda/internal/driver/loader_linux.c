//go:build cuda

// The entry points of the CUDA driver that gorgonia.org/cu refers to, defined as jumps through a
// table that is filled from libcuda.so.1 when it is first wanted. So a program needs no such
// library to be linked or to start, and the package init of gorgonia.org/cu, which ends the process
// where cuInit fails, sees success.
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include "loader.h"

static int unavailable(void) { return LOADER_NO_DEVICE; }

// A slot for each, and a jump through it, which leaves arguments and stack as they are: so none needs its prototype.
#if defined(__x86_64__)
#define JUMP(name) "\tjmp *slot_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(name) "\tadrp x16, slot_" #name "\n\tldr x16, [x16, :lo12:slot_" #name "]\n\tbr x16\n"
#else
#error "the CUDA back end is for amd64 and arm64"
#endif
#define F(name) \
	__attribute__((visibility("hidden"), used)) void *slot_##name = (void *)unavailable; \
	__asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ",@function\n" #name ":\n" JUMP(name) \
		".size " #name ",.-" #name "\n");
#include "slots.h"
#undef F

static const struct {
	const char *name;
	void **slot;
} slots[] = {
#define F(name) {#name, &slot_##name},
#include "slots.h"
};

// The one that gorgonia.org/cu calls when the program starts.
__attribute__((visibility("hidden"))) int cuInit(unsigned int flags) {
	(void)flags;
	return LOADER_OK;
}

static int state;
static const char *why;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_driver(void) {
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	int (*init)(unsigned int) = library ? (int (*)(unsigned int))dlsym(library, "cuInit") : NULL;
	if (!init) {
		const char *words = dlerror();
		// the words are the thread's: its next call of dlerror, or its end, frees them
		why = words ? strdup(words) : NULL;
		state = LOADER_NO_LIBRARY;
		return;
	}
	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) { // an older driver may lack some: they say "no device"
		void *entry = dlsym(library, slots[i].name);
		if (entry) *slots[i].slot = entry;
	}
	state = init(0);
}

int loader_open(void) {
	pthread_once(&once, open_driver);
	return state;
}

const char *loader_error(void) { return why; }
