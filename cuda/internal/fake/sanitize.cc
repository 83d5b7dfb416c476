// Runs the kernels under the sanitizers that it is compiled with. Exits with 1 where a value is
// wrong; a sanitizer ends it by itself.
#include "cpu.h"
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

int main() {
	for (int n : {1, 127, 128, 133, 260}) tiles(n, 0), tiles(n, n % 2 ? 33 : 90);
	for (int documents : {1, 255, 256, 1023, 1024, 1300})
		for (int copies : {1, 2}) boards(documents, copies);
	return wrong > 0;
}
