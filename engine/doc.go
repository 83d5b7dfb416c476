// Package engine computes Gram matrices of kernels on sparse documents.
//
// A [Kernel] is an embedding plus an elementwise map of c = 1 - cosine and the two norms. The unit of computation is a tile of c: a
// panel of documents against a range of others, computed by the kernels of package asm from head/tail panels; kernels are maps applied when a
// tile is read. [Reference] computes the same in float64, slowly and obviously right; [Engine] computes it in float32, fast.
// [HyperbolicGram] has a way of its own: it compares sets of points, as [Normals], by a distance that is no function of a cosine.
//
// # Kernels
//
// [ParseKernel] makes a kernel of a specification such as diffusion:t=0.5, and [Catalogue] describes all that it knows. A new kernel is a family in one of the lists that
// the catalogue gathers: a name, its parameters with ranges and defaults, and a function that builds it. Kernels are of three kinds:
//
//   - Those with a map of their own in package asm, for the formulas that are used most: diffusion, ngd, ngd-exp, linear, polynomial, sigmoid, rbf, and arccos of
//     degree 0 to 2.
//   - Forms: a formula in float64, value(c, x, y), of other kernels or of none. A form that is a function of c times the same power of both norms, which most are, is
//     separable: it is compiled into a table when it is first used. Others map a chunk of columns at a time through all their parts.
//   - Those that users write, by [NewKernel]: a function of c and the norms, and optionally one of rows. What they panic with is an error of the computation, a [PanicError].
//
// # Tables
//
// A table is a piecewise polynomial of degree 5 in c, in float32, over intervals that grow finer towards c = 0 and c = 2, as many as hold the interpolation below a
// quarter of rounding. A function of many orders of magnitude is tabulated by its logarithm. Each interval carries the bound on its own error as it was measured against the
// formula when it was made, so that Error of such a kernel is no estimate. What no such table follows, as few kernels with extreme parameters and some of one's own,
// is computed value by value.
//
// # Pairings
//
// The cosine is one of several similarities of two documents that are inner products of unit vectors in some Hilbert space. The others compare histograms term by term, by χ²
// and by Jensen and Shannon, and are part of the embedding (sparse.Pairing): tf-l1-chi2, tf-l1-js. With such an embedding c is 1 - similarity, half a squared distance as
// ever, and all that is said here of c holds of it, its accuracy included. What differs is what is summed over the common terms, in package asm. chi2 and js are
// kernels of these distances; every other kernel may be taken of them, too, such as linear:embed=tf-l1-js, the similarity itself.
//
// # Algebra
//
// Sums, products, powers, exponentials, normalised, centred and composed kernels are forms of other kernels. What a kernel must tell to be a part is the geometry of its
// feature space: with k(x, y) = ⟨φ(x), φ(y)⟩ the distance
//
//	c₂ = 1 - k(x, y)/√(k(x, x) k(y, y))
//
// and the norms √k(x, x), √k(y, y), which are just what a kernel is given. So layers are functions of three numbers, as kernels of documents are, and c₂ keeps its digits
// however small it is: it is computed by formulas without cancellation, not as 1 minus a number near 1. A function that is written in two ways is one kernel where
// the specifications have one form, as compose(arccos:n=1,layers=3) and arccos:n=1,layers=3 have; == compares them. A power of an exponential keeps its specification, but is
// computed as the exponential that it is, and so it has that one's properties: power(rbf:gamma=1,0.5) is positive definite as rbf:gamma=0.5 is.
//
// What is below a layer is computed in float64 and rounded once, as the layer above multiplies relative errors: Gaussian kernels, polynomials, sums of up to four parts, smoothed and biased
// thresholds have maps for that in package asm (see asm.Kernels.Join), kernels that are one table of c are that, and others go value by value.
//
// # Accuracy
//
// c errs by 1e-6 at most, and by 1e-5 relative; of documents that are the same up to a factor it is exactly 0. To that comes the map's own error, which
// Kernel.Error bounds, and what the kernel makes of the error in c and in the norms, each rounded to float32: [Tolerance] adds them up, and [Within] is the test that
// a program makes of it. Of the diffusion kernel's parametrix, whose values may all be beyond float32, Properties says so
// beforehand.
//
// # Properties
//
// [PropertiesOf] says what is known of a kernel with its parameters: positive definite, conditionally so, or not proven, on what condition, and by which source. It follows
// the algebra: a sum or product of positive definite kernels is one, the exponential of a conditionally positive definite kernel is positive definite, and a
// negative weight leaves nothing proven. Package engine/spectrum computes what a matrix really has.
//
// What doesn't live here: reading documents (package sparse), tile geometry and caching (package tiles), learning (package solver).
package engine
