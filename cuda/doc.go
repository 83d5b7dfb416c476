// Package cuda is the place of the GPU back end: the tiles of c = 1 - cosine and the kernel maps of package engine, computed by an
// NVIDIA GPU through gorgonia.org/cu, behind the build tag cuda.
//
// It depends on sparse and tiles and mirrors the names of package asm, never the reverse: engine, asm and the default build know nothing of
// it. It holds nothing yet.
package cuda
