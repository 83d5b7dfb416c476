//go:build cuda

#include "calls.h"

// As cuda.h has them, so that it isn't needed here. The linker takes them from loader_linux.c.
extern int cuMemHostAlloc(void **p, size_t bytes, unsigned int flags);
extern int cuMemFreeHost(void *p);
extern int cuFuncSetAttribute(void *function, int attribute, int value);

enum { MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 }; // of CUfunction_attribute

int calls_host_alloc(void **p, size_t bytes) { return cuMemHostAlloc(p, bytes, 0); }
int calls_host_free(void *p) { return cuMemFreeHost(p); }
int calls_allow_shared(uintptr_t function, int bytes) {
	return cuFuncSetAttribute((void *)function, MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
}
