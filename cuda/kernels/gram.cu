// Rows of c = 1 - cosine and of kernels of it. Compiled to PTX by clang (make ptx) and, for tests,
// for the CPU.
#ifndef GRAM_ON_CPU
#include "cuda_min.h"
#endif
#include "shape.h"

#include "functions.h"
#include "pairing.h"

#include "words.h"

#include "program.h"

#include "close.h"
#include "panel.h"
#include "tail.h"

#include "reduce.h"
#include "tensor.h"
