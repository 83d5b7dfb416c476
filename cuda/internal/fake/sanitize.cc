// Runs the kernels under the sanitizers that it is compiled with. Exits with 1 where a value is
// wrong; a sanitizer ends it by itself. With GRAM_THREADS, for ThreadSanitizer, a thread of the
// system is each CUDA thread:
//
//	sanitize               says which barriers there are, a kernel and a line each
//	sanitize KERNEL LINE   runs the kernel without that barrier, which must show as a race
#ifdef GRAM_THREADS
#include "threads.h"
#endif
#include "kernels.h"

#include "tiles.h"

#ifdef GRAM_THREADS
// As few blocks as have all barriers and a chunk and a square after another.
static void all() {
	tiles(133, 0);
	tiles(40, 90);
}

int main(int n, char **argument) {
	if (n == 3) {
		only = argument[1];
		cpu::left = atoi(argument[2]);
		for (int i = 0; i < 8; i++) all(); // ThreadSanitizer forgets accesses, and may miss a race
		return 0;
	}
	launched = [](const char *kernel) {
		static std::set<std::string> told;
		for (int line : cpu::barriers) {
			const auto text = std::string(kernel) + " " + std::to_string(line);
			if (told.insert(text).second) puts(text.c_str());
		}
		cpu::barriers.clear();
	};
	all();
	return wrong > 0;
}
#else
int main() {
	for (int n : {1, 127, 128, 133, 260}) tiles(n, 0), tiles(n, n % 2 ? 33 : 90);
	return wrong > 0;
}
#endif
