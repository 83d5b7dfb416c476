// Package logistic trains logistic regression on documents.
//
// # The problem
//
// A binary classifier has P(y | x) = 1/(1 + e^(-y·f(x))), y = ±1. Training minimises
//
//	F = Σᵢ sᵢ log(1 + e^(-yᵢf(xᵢ))) + ‖w‖²/2C,  f(x) = ⟨w,x⟩ + b
//
// over w ∈ Rⁿ and the bias b, which isn't regularised and may be fixed at 0. sᵢ is the document's
// weight times its class's weight. F is convex. Training stops when the gradient norm or the
// decrease of F is small enough. If C is finite, the duality gap must also be small (gap.go).
//
// # How it is computed
//
// A pass computes f by rows and the gradient by columns (objective.go), in O(stored values +
// terms). Documents are stored by rows and by columns (task.TrainingMatrix), so that both
// computations are gathers. No two workers write the same value, and sums have a fixed order, so
// results are bit-identical for any number of workers. The solver is L-BFGS (package lbfgs).
// Classes are trained concurrently (train.go). For each class, a model per C is trained in
// ascending order of C with warm starts. Package learn chooses C by cross-validation.
package logistic
