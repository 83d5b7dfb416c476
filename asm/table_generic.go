package asm

// generic is the table of the portable kernels.
var generic = Kernels{
	ISA: Generic,
}
