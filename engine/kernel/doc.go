// Package kernel has the kernels: functions of c = 1 - cosine of two documents and of their norms.
//
// [Parse] reads a specification such as diffusion:t=0.5, [Apply] maps a tile of c to values, and
// [PropertiesOf] says what is known of a kernel. A kernel's definition in float64, Eval, is the
// reference; its map in float32 is what engines run, and Error says how far the two may be apart.
//
// There is a file for each family of kernels, for each way to make kernels of others (algebra,
// power, unary, compose), and for the programs that devices run. Package internal/syntax has the
// grammar of specifications, internal/table piecewise polynomials. The package knows no documents
// beyond their embedding, and computes no c: that is what package engine does.
//
// # Kernels
//
// [Parse] makes a kernel of a specification, and [Catalogue] describes all that it knows. A new
// kernel is a file that registers a family when it is initialised: its name, formula and source,
// its parameters with ranges and defaults, and a function that builds it. See cosine_power.go for
// one. Kernels are of three kinds:
//
//   - Those with a map of their own in package asm, for the formulas that are used most: diffusion,
//     ngd, ngd-exp, linear, polynomial, sigmoid, rbf, and arccos of degree 0 to 2.
//   - Forms: a formula in float64, value(c, x, y), of other kernels or of none. A form that is a
//     function of c times the same power of both norms, which most are, is separable: it is
//     compiled into a table when it is first used. Others map a chunk of columns at a time through
//     all their parts.
//   - Those that users write, by [New]: a function of c and the norms, and optionally one of rows.
//     What they panic with is an error of the computation, a [PanicError].
//
// # Tables
//
// A table is a piecewise polynomial of degree 5 in c, in float32, over intervals that grow finer
// towards c = 0 and c = 2, as many as hold the interpolation below a quarter of rounding. A
// function of many orders of magnitude is tabulated by its logarithm. Each interval carries the
// bound on its own error as it was measured against the formula when it was made, so that Error of
// such a kernel is no estimate. What no such table follows, as few kernels with extreme parameters
// and some of one's own, is computed value by value.
//
// # Algebra
//
// Sums, products, powers, exponentials, normalised, centred and composed kernels are forms of other
// kernels. What a kernel must tell to be a part is the geometry of its feature space: with k(x, y)
// = ⟨φ(x), φ(y)⟩ the distance
//
//	c₂ = 1 - k(x, y)/√(k(x, x) k(y, y))
//
// and the norms √k(x, x), √k(y, y), which are just what a kernel is given. So layers are functions
// of three numbers, as kernels of documents are, and c₂ keeps its digits however small it is: it is
// computed by formulas without cancellation, not as 1 minus a number near 1. A function that is
// written in two ways is one kernel where the specifications have one form, as
// compose(arccos:n=1,layers=3) and arccos:n=1,layers=3 have; [Equal] compares them. A power of an
// exponential keeps its specification, but is computed as the exponential that it is, and so it has
// that one's properties: power(rbf:gamma=1,0.5) is positive definite as rbf:gamma=0.5 is.
//
// What is below a layer is computed in float64 and rounded once, as the layer above multiplies
// relative errors: Gaussian kernels, polynomials, sums of up to four parts, smoothed and biased
// thresholds have maps for that in package asm (see asm.Kernels.Join), kernels that are one table
// of c are that, and others go value by value.
//
// # Properties
//
// [PropertiesOf] says what is known of a kernel with its parameters: positive definite,
// conditionally so, or not proven, on what condition, and by which source. It follows the algebra:
// a sum or product of positive definite kernels is one, the exponential of a conditionally positive
// definite kernel is positive definite, and a negative weight leaves nothing proven. Package
// engine/spectrum computes what a matrix really has.
package kernel
