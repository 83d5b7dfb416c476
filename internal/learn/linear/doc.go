// Package linear trains linear classifiers on documents by dual coordinate descent, like LIBLINEAR
// and scikit-learn's LinearSVC.
//
// # The problem
//
// A binary classifier separates a class from all others by f(x) = ⟨w,x⟩ + b. The bias is b = B·v,
// where v is the weight of an additional term with value B in all documents
// (Settings.InterceptScaling). So the bias is regularised. Training minimises
//
//	P = (‖w‖² + v²)/2 + Σᵢ Cᵢ ℓ(yᵢf(xᵢ)), yᵢ = ±1,
//
// where Cᵢ is C times the weights of the document (Corpus.Weights) and of its class
// (Settings.Weights), and ℓ(m) is the squared hinge max(0, 1-m)² (L2 loss) or the hinge max(0, 1-m)
// (L1 loss). The dual problem is to maximise, over α,
//
//	D = Σᵢ αᵢ - (‖w‖² + v²)/2 - Σᵢ αᵢ²/4Cᵢ,  0 ≤ αᵢ         for the squared hinge,
//	D = Σᵢ αᵢ - (‖w‖² + v²)/2,               0 ≤ αᵢ ≤ Cᵢ    for the hinge,
//
// where w = Σᵢ αᵢyᵢxᵢ and v = Σᵢ αᵢyᵢB. P ≥ D always, with equality at the optimum.
//
// # How it is computed
//
// A step optimises one αᵢ and updates w, in time proportional to the document's number of values.
// Documents are visited in random order (dual.go). Documents whose α stays at a bound are skipped
// until the other documents have converged. Training ends when P - D, recomputed from α, is at most
// Settings.Tolerance times P. P minus its minimum is at most P - D. The squared distance from the
// optimal (w, v) is at most 2(P - D).
//
// Classes are trained concurrently. For each class, a model per C is trained in ascending order of
// C, warm-started from the previous solution. The order of documents depends only on the seed and
// the class, so that results are bit-identical for any number of workers.
//
// Source: Hsieh, Chang, Lin, Keerthi and Sundararajan, A Dual Coordinate Descent Method for
// Large-scale Linear SVM, ICML 2008. The paper's algorithm stops at a fixed range of projected
// gradients. This package reduces the range until the gap is small enough.
package linear
