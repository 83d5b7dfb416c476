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

enum {
	SLOTS = 0
#define F(i, name) +1
#include "slots.h"
#undef F
};

static int unavailable(void) { return LOADER_NO_DEVICE; }

__attribute__((visibility("hidden"), used)) void *loader_slot[SLOTS] = {
#define F(i, name) (void *)unavailable,
#include "slots.h"
#undef F
};

static const char *const names[SLOTS] = {
#define F(i, name) #name,
#include "slots.h"
#undef F
};

// A jump leaves arguments and stack as they are, so no entry point needs its prototype.
#if defined(__x86_64__)
#define F(i, name) \
	__asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ",@function\n" #name ":\n" \
		"\tjmp *loader_slot+8*" #i "(%rip)\n" \
		".size " #name ",.-" #name "\n");
#elif defined(__aarch64__)
#define F(i, name) \
	__asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ",@function\n" #name ":\n" \
		"\tadrp x16, loader_slot+8*" #i "\n\tldr x16, [x16, :lo12:loader_slot+8*" #i "]\n\tbr x16\n" \
		".size " #name ",.-" #name "\n");
#else
#error "the CUDA back end is for amd64 and arm64"
#endif
#include "slots.h"
#undef F

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
	for (int i = 0; i < SLOTS; i++) { // an older driver may lack some; they keep saying that there is no device
		void *entry = dlsym(library, names[i]);
		if (entry) loader_slot[i] = entry;
	}
	state = init(0);
}

int loader_open(void) {
	pthread_once(&once, open_driver);
	return state;
}

const char *loader_error(void) { return why; }
