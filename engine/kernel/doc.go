// Package kernel has the kernels: functions of c = 1 - cosine of two documents and of their norms.
//
// [Parse] reads a specification such as diffusion:t=0.5, [Apply] maps a tile of c to values, and
// [PropertiesOf] says what is known of a kernel. A kernel's definition in float64, Eval, is the
// reference; its map in float32 is what engines run, and Error says how far the two may be apart.
//
// There is a file for each family, for each way to make kernels of others (sums, products, powers,
// compositions), for the grammar, and for the programs that devices run. The package knows no
// documents beyond their embedding, and computes no c: that is what package engine does.
package kernel
