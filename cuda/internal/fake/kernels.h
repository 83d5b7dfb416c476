// The kernels by name.
#pragma once

#include "cpu.h"
#include "../../kernels/gram.cu"

KERNEL(tailAdd)
KERNEL(panelDot)
KERNEL(tailAddChiSquare)
KERNEL(panelChiSquare)
KERNEL(tailAddJensenShannon)
KERNEL(panelJensenShannon)
KERNEL(panelTensor)
KERNEL(applyProgram)
KERNEL(closePairs)
KERNEL(digest)
KERNEL(multiplyRows)
KERNEL(least)
