// The driver's results that the loader itself can give, and one that no driver gives.
enum {
	LOADER_OK = 0,
	LOADER_NO_DEVICE = 100,
	LOADER_NO_LIBRARY = -1,
};

// loader_open opens libcuda.so.1 at its first call and returns what cuInit said, or
// LOADER_NO_LIBRARY.
int loader_open(void);

// loader_error says why there is no library, in the words of the dynamic linker; NULL where there
// is one.
const char *loader_error(void);
