// Package logistic trains logistic regression on documents, with Euclidean or spherical margins.
//
// # The problem
//
// A machine tells a class from all others: P(y | x) = 1/(1 + e^(-y·f(x))), y = ±1. It minimises
//
//	F = Σᵢ sᵢ log(1 + e^(-yᵢf(xᵢ))) + ‖w‖²/2C
//
// over w ∈ Rⁿ, with the weight sᵢ of the document times that of its class, where
//
//	f(x) = ⟨w,x⟩ + b      for Euclidean margins, with b free and not regularised, or 0,
//	f(x) = 2θ·d(x, û)     for spherical ones, with w = θû, ‖û‖ = 1, θ ≥ 0,
//
// and d is the signed angle between x and the hyperplane of û on the positive sphere (package
// sphere). So both have the same regularisation, since ‖w‖ = θ, and for small angles nearly the same
// f. On separable documents θ grows for ever as C does;
// at 10⁴ it stays, and the machine says so.
//
// F is convex for Euclidean margins. For spherical ones it isn't, and has kinks where a document lies
// on the hyperplane: the result is that of a start near the Euclidean solution.
// A Euclidean search ends at a duality gap (gap.go), unless C is infinite; a spherical one by its gradient.
//
// # How it is computed
//
// A pass goes over documents for f and over terms for the gradient (objective.go): O(stored values +
// terms), whatever documents × terms is. Documents are kept by rows and by columns for it
// (points.go), so that both are gathers, no two workers write to one place, and sums have one order:
// results have the same bits from any number of workers. Both margins are searched by one L-BFGS
// (package lbfgs). Machines of several classes are trained
// side by side (train.go), for ascending C each from the one before. Package learn chooses C by folds.
//
// Source: Lebanon and Lafferty, Hyperplane Margin Classifiers on the Multinomial Manifold, ICML 2004,
// §5, whose likelihood is -F without regularisation.
package logistic
