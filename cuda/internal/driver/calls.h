#include <stddef.h>
#include <stdint.h>

// Entry points of the driver that gorgonia.org/cu has no call for; they return the driver's result.
int calls_host_alloc(void **p, size_t bytes);
int calls_host_free(void *p);
int calls_allow_shared(uintptr_t function, int bytes);
