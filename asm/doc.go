// Package asm holds the kernels that take the time, on raw slices: panel dot products, the finish that turns sums into c, and the
// elementwise maps of c.
//
// Every kernel has a generic Go form that is compiled on every platform and is the reference for the forms in assembly; an instruction
// set is a table of kernels ([Kernels]) that is chosen once, when an engine is made, by [For] or [Best]. Kernels check nothing: their
// preconditions are stated, their callers hold to them. All of them may be called concurrently as long as destinations don't overlap.
//
// What doesn't live here: documents, kernels as mathematical objects, scheduling. This package knows slices of float32 only.
package asm
