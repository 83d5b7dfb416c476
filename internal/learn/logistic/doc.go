// Package logistic trains logistic regression on documents.
//
// # The problem
//
// A machine tells a class from all others: P(y | x) = 1/(1 + e^(-y·f(x))), y = ±1. It minimises
//
//	F = Σᵢ sᵢ log(1 + e^(-yᵢf(xᵢ))) + ‖w‖²/2C,  f(x) = ⟨w,x⟩ + b
//
// over w ∈ Rⁿ and b, which isn't regularised, or is 0. The weight sᵢ is that of the document times
// that of its class. F is convex. A search ends at a duality gap (gap.go), unless C is infinite.
//
// # How it is computed
//
// A pass goes over documents for f and over terms for the gradient (objective.go): O(stored values
// + terms). Documents are kept by rows and by columns for it (task.Points), so that both are
// gathers, no two workers write to one place, and sums have one order: results have the same bits
// from any number of workers. The search is L-BFGS (package lbfgs). Machines of several classes are
// trained side by side (train.go), for ascending C each from the one before. Package learn chooses
// C by folds.
package logistic
