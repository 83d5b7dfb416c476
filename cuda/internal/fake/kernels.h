// The kernels by name, and whether they have no barrier.
#pragma once

#include "cpu.h"
#include "../../kernels/gram.cu"

KERNEL(tailAdd, false)
KERNEL(panelDot, false)
KERNEL(tailAddChiSquare, false)
KERNEL(panelChiSquare, false)
KERNEL(tailAddJensenShannon, false)
KERNEL(panelJensenShannon, false)
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
