// Runs the kernels under ThreadSanitizer with a thread of the system for each CUDA thread:
//
//	races               says which barriers there are, a kernel and a line each
//	races KERNEL LINE   runs the kernel without that barrier, which must show as a race
//
// Exits with 1 where a value is wrong, and no barrier is left out; ThreadSanitizer ends it by
// itself.
#include "threads.h"

// ThreadSanitizer tells 255 threads apart, of all blocks' sizes together, and misses races where
// there are more: blocks have fewer here. What the kernels do is the same.
#define PANEL_THREADS USUAL_PANEL_THREADS
#define TAIL_THREADS USUAL_TAIL_THREADS
#define CLOSE_THREADS USUAL_CLOSE_THREADS
#define REDUCE_THREADS USUAL_REDUCE_THREADS
#define BOARD_THREADS USUAL_BOARD_THREADS
#define PICK_THREADS USUAL_PICK_THREADS
#define TENSOR_THREADS USUAL_TENSOR_THREADS
#define TENSOR_ROWS USUAL_TENSOR_ROWS
#include "../../kernels/shape.h"
#undef PANEL_THREADS
#undef TAIL_THREADS
#undef CLOSE_THREADS
#undef REDUCE_THREADS
#undef BOARD_THREADS
#undef PICK_THREADS
#undef TENSOR_THREADS
#undef TENSOR_ROWS
constexpr unsigned PANEL_THREADS = PANEL, TAIL_THREADS = 64, CLOSE_THREADS = 64, REDUCE_THREADS = 64,
				   BOARD_THREADS = 64, PICK_THREADS = 64, TENSOR_THREADS = 128,
				   TENSOR_ROWS = 64;

#include "../../kernels/gram.cu"

KERNEL(tailAdd, false)
KERNEL(panelDot, false)
KERNEL(panelTensor, false)
KERNEL(closePairs, false)
KERNEL(digest, false)
KERNEL(multiplyRows, false)
KERNEL(least, false)
KERNEL(addRows, true)
KERNEL(extremes, false)
KERNEL(beyondCount, false)
KERNEL(beyondList, false)
KERNEL(pick, true)

#include "boards.h"
#include "tiles.h"

// As few blocks as have all barriers and a chunk, a square and a block of variables after another.
static void all() {
	tiles(133, 0);
	tiles(40, 90);
	boards(3000, 1);
}

int main(int n, char **argument) {
	if (n == 3) {
		only = argument[1];
		cpu::left = atoi(argument[2]);
		all();
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
